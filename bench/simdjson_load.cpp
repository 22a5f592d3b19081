// SPDX-License-Identifier: MIT
// The yardstick of the load stage: the same fields of the same unpacked file, read into arrays with simdjson on-demand.
// It does less than the loader has to: texts stay views into the file, nothing is interned or made canonical, times are
// doubles, nothing is checked, counted or repaired.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include <simdjson.h>

using namespace simdjson;

namespace
{

constexpr uint32_t none = UINT32_MAX;

struct OpArgs {
	std::string_view dims, types, strides, concrete, kernel_file;
	int64_t external = -1, sequence = -1, forward_thread = -1;
};

struct LinkArgs {
	int64_t correlation = -1, external = -1;
	std::string_view stream, device, grid, block;
	std::string_view collective[9];
};

struct PythonArgs {
	int64_t id = -1, parent = -1, module = -1;
};

// One row an event, as the event store has it; side tables for what only some kinds of events carry.
struct Columns {
	std::vector<std::string_view> name, category, pid, tid, id;
	std::vector<char> phase;
	std::vector<double> start, duration;
	std::vector<uint32_t> side;
	std::vector<OpArgs> ops;
	std::vector<LinkArgs> links;
	std::vector<PythonArgs> python;
};

enum class Kind { other, op, link, python };

Kind kind_of(std::string_view category)
{
	if (category == "cpu_op" || category == "user_annotation" || category == "gpu_user_annotation")
		return Kind::op;
	if (category == "python_function")
		return Kind::python;
	if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" ||
	    category.find("_runtime") != category.npos || category.find("_driver") != category.npos)
		return Kind::link;
	return Kind::other;
}

std::string_view raw(ondemand::value value)
{
	std::string_view text;
	if (to_json_string(value).get(text))
		return {};
	return text;
}

int64_t integer(ondemand::value value)
{
	int64_t number;
	return value.get_int64().get(number) ? -1 : number;
}

void read_op(ondemand::object args, OpArgs &out)
{
	for (auto field : args) {
		auto key = field.key().value_unsafe();
		switch (*key.raw()) {
		case 'I':
			if (key.unsafe_is_equal("Input Dims"))
				out.dims = raw(field.value());
			else if (key.unsafe_is_equal("Input type"))
				out.types = raw(field.value());
			else if (key.unsafe_is_equal("Input Strides"))
				out.strides = raw(field.value());
			break;
		case 'C':
			if (key.unsafe_is_equal("Concrete Inputs"))
				out.concrete = raw(field.value());
			break;
		case 'E':
			if (key.unsafe_is_equal("External id"))
				out.external = integer(field.value());
			break;
		case 'S':
			if (key.unsafe_is_equal("Sequence number"))
				out.sequence = integer(field.value());
			break;
		case 'F':
			if (key.unsafe_is_equal("Fwd thread id"))
				out.forward_thread = integer(field.value());
			break;
		case 'k':
			if (key.unsafe_is_equal("kernel_file"))
				out.kernel_file = raw(field.value());
			break;
		default:
			break;
		}
	}
}

void read_link(ondemand::object args, LinkArgs &out)
{
	static constexpr std::string_view collective[] = {
		"Process Group Name", "Process Group Ranks", "Collective name", "Group size",    "dtype",
		"In msg nelems",      "Out msg nelems",      "In split size",   "Out split size"};
	for (auto field : args) {
		auto key = field.key().value_unsafe();
		switch (*key.raw()) {
		case 'c':
			if (key.unsafe_is_equal("correlation"))
				out.correlation = integer(field.value());
			break;
		case 'E':
			if (key.unsafe_is_equal("External id"))
				out.external = integer(field.value());
			break;
		case 's':
			if (key.unsafe_is_equal("stream"))
				out.stream = raw(field.value());
			break;
		case 'g':
			if (key.unsafe_is_equal("grid"))
				out.grid = raw(field.value());
			break;
		case 'b':
			if (key.unsafe_is_equal("block"))
				out.block = raw(field.value());
			break;
		case 'd':
			if (key.unsafe_is_equal("device")) {
				out.device = raw(field.value());
				break;
			}
			[[fallthrough]];
		case 'P':
		case 'C':
		case 'G':
		case 'I':
		case 'O':
			for (size_t i = 0; i < std::size(collective); i++) {
				if (key.unsafe_is_equal(collective[i])) {
					out.collective[i] = raw(field.value());
					break;
				}
			}
			break;
		default:
			break;
		}
	}
}

void read_python(ondemand::object args, PythonArgs &out)
{
	for (auto field : args) {
		auto key = field.key().value_unsafe();
		if (*key.raw() != 'P')
			continue;
		if (key.unsafe_is_equal("Python id"))
			out.id = integer(field.value());
		else if (key.unsafe_is_equal("Python parent id"))
			out.parent = integer(field.value());
		else if (key.unsafe_is_equal("Python module id"))
			out.module = integer(field.value());
	}
}

template <class Args> Args &add(std::vector<Args> &table, uint32_t &side)
{
	side = static_cast<uint32_t>(table.size());
	return table.emplace_back();
}

void read_event(ondemand::object event, Columns &c)
{
	std::string_view name, category, pid, tid, id;
	char phase = 0;
	double start = 0, duration = 0;
	uint32_t side = none;

	for (auto field : event) {
		auto key = field.key().value_unsafe();
		switch (*key.raw()) {
		case 'p':
			if (key.unsafe_is_equal("ph"))
				phase = field.value().get_raw_json_string().value().raw()[0];
			else if (key.unsafe_is_equal("pid"))
				pid = raw(field.value());
			break;
		case 'c':
			if (key.unsafe_is_equal("cat"))
				category = field.value().get_string();
			break;
		case 'n':
			if (key.unsafe_is_equal("name"))
				name = field.value().get_string();
			break;
		case 't':
			if (key.unsafe_is_equal("ts")) {
				if (field.value().get_double().get(start))
					start = 0;
			} else if (key.unsafe_is_equal("tid")) {
				tid = raw(field.value());
			}
			break;
		case 'd':
			if (key.unsafe_is_equal("dur") && field.value().get_double().get(duration))
				duration = 0;
			break;
		case 'i':
			if (key.unsafe_is_equal("id"))
				id = raw(field.value());
			break;
		case 'a':
			if (!key.unsafe_is_equal("args"))
				break;
			switch (kind_of(category)) {
			case Kind::op:
				read_op(field.value().get_object(), add(c.ops, side));
				break;
			case Kind::link:
				read_link(field.value().get_object(), add(c.links, side));
				break;
			case Kind::python:
				read_python(field.value().get_object(), add(c.python, side));
				break;
			case Kind::other:
				break;
			}
			break;
		default:
			break;
		}
	}
	c.name.push_back(name);
	c.category.push_back(category);
	c.pid.push_back(pid);
	c.tid.push_back(tid);
	c.id.push_back(id);
	c.phase.push_back(phase);
	c.start.push_back(start);
	c.duration.push_back(duration);
	c.side.push_back(side);
}

int load(const char *path)
{
	auto begin = std::chrono::steady_clock::now();
	ondemand::parser parser;
	padded_string text;
	ondemand::document document;
	Columns columns;

	if (auto error = padded_string::load(path).get(text)) {
		std::fprintf(stderr, "bench_simdjson: %s: %s\n", path, error_message(error));
		return 1;
	}
	document = parser.iterate(text);
	ondemand::json_type type = document.type();
	ondemand::array events = type == ondemand::json_type::array
					 ? document.get_array()
					 : document.get_object().find_field_unordered("traceEvents").get_array();
	for (auto event : events)
		read_event(event.get_object(), columns);

	double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
	std::printf("events %zu bytes %zu memory 0 seconds %.6f\n", columns.name.size(), text.size(), seconds);
	std::fprintf(stderr, "ops %zu links %zu python %zu on %s\n", columns.ops.size(), columns.links.size(),
		     columns.python.size(), simdjson::get_active_implementation()->name().c_str());
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::fprintf(stderr, "usage: bench_simdjson TRACE.json\n");
		return 2;
	}
	try {
		return load(argv[1]);
	} catch (const simdjson_error &error) {
		std::fprintf(stderr, "bench_simdjson: %s: %s\n", argv[1], error.what());
		return 1;
	}
}
