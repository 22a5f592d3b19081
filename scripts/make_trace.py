#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a PyTorch-profiler trace of a small vision transformer in training, without a GPU.

The trace has what real ones have: nn.Module and Python frames, forward on one thread and backward
on another, kernels on two streams linked by correlation ids and flow arrows, copies and memsets,
all-reduce of gradients, profiler steps, a few kernels whose launch lies before the window. The same
options always give the same bytes of JSON. Kernel times follow a simple roofline of an invented GPU
with a small deterministic jitter; nothing here measures anything.

usage: make_trace.py OUT.json[.gz] [--layers N] [--steps N] [--rank R --world-size W] [--slower NAME=FACTOR]
"""
import argparse
import contextlib
import gzip
import hashlib
import io
import json

DTYPE = "c10::BFloat16"
BYTES = 2
PEAK_FLOPS = 300e12  # of the invented GPU, bf16
BANDWIDTH = 2.0e12
COMPUTE_STREAM, COMM_STREAM = 7, 20
FORWARD_THREAD, BACKWARD_THREAD = 4100, 4180


class Recorder:
    """Collects events; every time is an integer number of nanoseconds."""

    def __init__(self, rank, slower):
        self.events = []
        self.rank = rank
        self.slower = slower
        self.pid = 4100 + rank * 100
        self.gpu_pid = rank
        self.start = 5_000_000_000_000 + rank * 1700
        self.clock = {FORWARD_THREAD: self.start, BACKWARD_THREAD: self.start}
        self.stream_free = {COMPUTE_STREAM: self.start, COMM_STREAM: self.start}
        self.correlation = 1000
        self.external = 1
        self.sequence = 500
        self.python_id = 1
        self.python_stack = {FORWARD_THREAD: [], BACKWARD_THREAD: []}
        self.counters = {}
        self.jitter_state = 0
        self.thread = FORWARD_THREAD

    # ---- time ----

    def jitter(self, spread):
        """A repeatable number in [1 - spread, 1 + spread]."""
        self.jitter_state += 1
        digest = hashlib.md5(f"{self.rank}:{self.jitter_state}".encode()).digest()
        return 1 + spread * (int.from_bytes(digest[:4], "big") / 2**31 - 1)

    def spend(self, nanoseconds):
        self.clock[self.thread] += max(1, round(nanoseconds * self.jitter(0.2)))

    # ---- events ----

    def add(self, **event):
        self.events.append(event)
        return event

    @contextlib.contextmanager
    def span(self, cat, name, args=None, lead=400, tail=300):
        """A host event around what happens inside the with block."""
        event = self.add(ph="X", cat=cat, name=name, pid=self.pid, tid=self.thread,
                         ts=self.clock[self.thread], dur=0, args=dict(args or {}))
        self.spend(lead)
        yield event
        self.spend(tail)
        event["dur"] = self.clock[self.thread] - event["ts"]

    @contextlib.contextmanager
    def python(self, name, module=False):
        stack = self.python_stack[self.thread]
        args = {"Python parent id": stack[-1] if stack else None, "Python id": self.python_id}
        if module:
            cls = name.split(": ")[1]
            number = self.counters.get(cls, 0)
            self.counters[cls] = number + 1
            name = f"{name}_{number}"
            args["Python module id"] = number
        stack.append(self.python_id)
        self.python_id += 1
        with self.span("python_function", name, args, lead=900, tail=600):
            yield
        stack.pop()

    @contextlib.contextmanager
    def op(self, name, dims=(), types=None, concrete=None, sequence=None, lead=700, tail=400, **more):
        args = {"External id": self.external, "Ev Idx": self.external}
        self.external += 1
        if sequence is not None:
            args["Sequence number"] = sequence
            args["Fwd thread id"] = 1 if self.thread == BACKWARD_THREAD else 0
        if dims:
            args["Input Dims"] = [list(d) for d in dims]
            args["Input type"] = list(types or [DTYPE if d else "Scalar" for d in dims])
            args["Input Strides"] = [strides(d) for d in dims]
            args["Concrete Inputs"] = list(concrete or ["" for _ in dims])
        args.update(more)
        with self.span("cpu_op", name, args, lead, tail) as event:
            yield event

    def launch(self, kernel, flops=0.0, moved=0.0, call="cudaLaunchKernel", cat="kernel", stream=COMPUTE_STREAM,
               duration=None, **more):
        """A runtime call and the GPU event it starts, with both halves of the flow arrow."""
        correlation, self.correlation = self.correlation, self.correlation + 1
        with self.span("cuda_runtime", call, {"External id": self.external - 1, "cbid": 211,
                                              "correlation": correlation}, lead=2500, tail=1200) as runtime:
            pass
        if duration is None:
            duration = max(flops / PEAK_FLOPS, moved / BANDWIDTH) * 1e9 + 1800
        duration = round(duration * self.jitter(0.06) * self.factor(kernel))
        start = max(runtime["ts"] + 4200, self.stream_free[stream] + 900)
        self.stream_free[stream] = start + duration
        args = {"External id": self.external - 1, "device": self.rank, "context": 1, "stream": stream,
                "correlation": correlation}
        if cat == "kernel":
            args.update({"registers per thread": 128, "shared memory": 32768, "grid": [256, 1, 1], "block": [256, 1, 1],
                         "est. achieved occupancy %": 50})
        else:
            args["bytes"] = round(moved)
        args.update(more)
        gpu = self.add(ph="X", cat=cat, name=kernel, pid=self.gpu_pid, tid=stream, ts=start, dur=duration, args=args)
        self.flow("ac2g", "ac2g", correlation, runtime, gpu)
        return gpu

    def factor(self, kernel):
        for name, factor in self.slower.items():
            if name in kernel:
                return factor
        return 1.0

    def flow(self, cat, name, number, source, target):
        self.add(ph="s", id=number, pid=source["pid"], tid=source["tid"], ts=source["ts"], cat=cat, name=name)
        self.add(ph="f", id=number, pid=target["pid"], tid=target["tid"], ts=target["ts"], cat=cat, name=name, bp="e")


def strides(dims):
    out, step = [], 1
    for d in reversed(dims):
        out.insert(0, step)
        step *= d
    return out


def count(dims):
    n = 1
    for d in dims:
        n *= d
    return n


class Model:
    """A vision transformer: patch embedding, `layers` blocks, a head; batch 4."""

    def __init__(self, recorder, layers):
        self.r = recorder
        self.layers = layers
        self.batch, self.tokens, self.width, self.heads = 4, 256, 512, 8
        self.tape = []  # backward work, to be done in reverse order

    # ---- operations: each records its forward events and puts its backward on the tape ----

    def sequence(self):
        self.r.sequence += 1
        return self.r.sequence

    def gemm_kernel(self, m, n, k, layout="tn"):
        return self.r.launch(f"sm90_xmma_gemm_bf16bf16_bf16f32_f32_{layout}_n_tilesize128x128x64_cublas",
                             2.0 * m * n * k, BYTES * (m * k + k * n + m * n))

    def linear(self, features_in, features_out):
        r, rows, number = self.r, self.batch * self.tokens, self.sequence()
        x, w = [self.batch, self.tokens, features_in], [features_out, features_in]
        with r.python("nn.Module: Linear", module=True), r.python("<built-in function linear>"):
            with r.op("aten::linear", [x, w, [features_out]]):
                with r.op("aten::t", [w]):
                    pass
                with r.op("aten::addmm", [[features_out], [rows, features_in], [features_in, features_out], [], []],
                          [DTYPE, DTYPE, DTYPE, "Scalar", "Scalar"], ["", "", "", "1", "1"], sequence=number) as event:
                    self.gemm_kernel(rows, features_out, features_in)
        self.tape.append(("AddmmBackward0", number, event,
                          lambda: self.linear_backward(rows, features_in, features_out)))

    def linear_backward(self, rows, features_in, features_out):
        r = self.r
        with r.op("aten::mm", [[rows, features_out], [features_out, features_in]], [DTYPE, DTYPE]):
            self.gemm_kernel(rows, features_in, features_out, "nn")
        with r.op("aten::mm", [[features_out, rows], [rows, features_in]], [DTYPE, DTYPE]):
            self.gemm_kernel(features_out, features_in, rows, "nt")
        with r.op("aten::sum", [[rows, features_out], [], [], []], [DTYPE, "ScalarList", "Scalar", ""],
                  ["", "[0]", "True", ""]):
            r.launch("void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, float> >",
                     rows * features_out, BYTES * rows * features_out)

    def layer_norm(self):
        r, shape, number = self.r, [self.batch, self.tokens, self.width], self.sequence()
        dims = [shape, [], [self.width], [self.width], [], []]
        types = [DTYPE, "ScalarList", DTYPE, DTYPE, "Scalar", "Scalar"]
        concrete = ["", f"[{self.width}]", "", "", "1e-05", "True"]
        with r.python("nn.Module: LayerNorm", module=True), r.python("torch/nn/functional.py(2870): layer_norm"):
            with r.op("aten::layer_norm", dims, types, concrete):
                with r.op("aten::native_layer_norm", dims[:5], types[:5], concrete[:5], sequence=number) as event:
                    r.launch("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>",
                             5 * count(shape), 2 * BYTES * count(shape))

        def backward():
            rows = [self.batch, self.tokens, 1]
            with r.op("aten::native_layer_norm_backward",
                      [shape, shape, [], rows, rows, [self.width], [self.width], []],
                      [DTYPE, DTYPE, "ScalarList", "float", "float", DTYPE, DTYPE, ""],
                      ["", "", f"[{self.width}]", "", "", "", "", "[True, True, True]"]):
                r.launch("void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<c10::BFloat16, float>",
                         8 * count(shape), 3 * BYTES * count(shape))
                r.launch("void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<c10::BFloat16, float>",
                         2 * count(shape), 2 * BYTES * count(shape))
        self.tape.append(("NativeLayerNormBackward0", number, event, backward))

    def attention(self):
        r, number = self.r, self.sequence()
        shape = [self.batch, self.heads, self.tokens, self.width // self.heads]
        flops = 4.0 * self.batch * self.heads * self.tokens * self.tokens * (self.width // self.heads)
        dims = [shape, shape, shape, [], [], [], []]
        types = [DTYPE, DTYPE, DTYPE, "Scalar", "Scalar", "Scalar", ""]
        concrete = ["", "", "", "0.", "False", "False", ""]
        with r.python("<built-in function scaled_dot_product_attention>"):
            with r.op("aten::scaled_dot_product_attention", dims, types, concrete):
                with r.op("aten::_scaled_dot_product_flash_attention", dims, types, concrete, sequence=number) as event:
                    with r.op("aten::_flash_attention_forward", dims, types, concrete):
                        r.launch("void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >", flops,
                                 4 * BYTES * count(shape))

        def backward():
            with r.op("aten::_scaled_dot_product_flash_attention_backward", [shape] * 5,
                      [DTYPE] * 5):
                with r.op("aten::_flash_attention_backward", [shape] * 5, [DTYPE] * 5):
                    r.launch("void flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<64, 128, 128, 8> >", 0,
                             2 * BYTES * count(shape))
                    r.launch("void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128, 128, 8> >",
                             2.5 * flops, 8 * BYTES * count(shape))
        self.tape.append(("ScaledDotProductFlashAttentionBackward0", number, event, backward))

    def elementwise(self, name, shapes, backward_name=None, backward_op=None, factor=1):
        r, number = self.r, self.sequence()
        n = count(shapes[0])
        concrete = ["" for _ in shapes]
        types = [DTYPE for _ in shapes]
        if name == "aten::add":
            shapes, types, concrete = shapes + [[]], types + ["Scalar"], concrete + ["1"]
        with r.op(name, shapes, types, concrete, sequence=number) as event:
            r.launch(f"void at::native::vectorized_elementwise_kernel<4, at::native::{name.split('::')[1]}_functor>",
                     factor * n, BYTES * n * (len(shapes) + 1))
        if backward_name:
            def backward():
                if backward_op:
                    with r.op(backward_op, [shapes[0], shapes[0]], [DTYPE, DTYPE]):
                        r.launch(f"void at::native::vectorized_elementwise_kernel<4, at::native::"
                                 f"{backward_op.split('::')[1]}_functor>", factor * n, 3 * BYTES * n)
            self.tape.append((backward_name, number, event, backward))

    def patch_embedding(self):
        r, number = self.r, self.sequence()
        image, kernel = [self.batch, 3, 256, 256], [self.width, 3, 16, 16]
        out = [self.batch, self.width, 16, 16]
        flops = 2.0 * count(out) * 3 * 16 * 16
        moved = BYTES * (count(image) + count(kernel) + count(out))
        dims = [image, kernel, [self.width], [], [], [], [], [], []]
        types = [DTYPE, DTYPE, DTYPE, "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"]
        concrete = ["", "", "", "[16, 16]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"]
        with r.python("nn.Module: Conv2d", module=True), r.python("<built-in method conv2d of type object>"):
            with r.op("aten::conv2d", dims[:6] + [[]], types[:6] + ["Scalar"], concrete[:6] + ["1"]):
                with r.op("aten::convolution", dims, types, concrete, sequence=number) as event:
                    with r.op("aten::_convolution", dims, types, concrete):
                        with r.op("aten::cudnn_convolution", dims[:2], types[:2]):
                            r.launch("sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64",
                                     flops, moved)
                        with r.op("aten::add_", [out, [1, self.width, 1, 1], []], [DTYPE, DTYPE, "Scalar"], ["", "", "1"]):
                            r.launch("void at::native::vectorized_elementwise_kernel<4, at::native::add_functor>",
                                     count(out), 2 * BYTES * count(out))

        def backward():
            with r.op("aten::convolution_backward", [out, image, kernel, [], [], [], [], [], [], [], []],
                      [DTYPE, DTYPE, DTYPE] + ["ScalarList"] * 4 + ["Scalar", "ScalarList", "Scalar", ""],
                      ["", "", "", f"[{self.width}]", "[16, 16]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1",
                       "[False, True, True]"]):
                with r.op("aten::cudnn_convolution_backward_weight", [out, image], [DTYPE, DTYPE]):
                    r.launch("sm90_xmma_wgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64",
                             flops, moved)
        self.tape.append(("ConvolutionBackward0", number, event, backward))

    # ---- modules ----

    def block(self):
        r, shape = self.r, [self.batch, self.tokens, self.width]
        with r.python("nn.Module: Block", module=True), r.python("model.py(88): forward"):
            self.layer_norm()
            with r.python("nn.Module: Attention", module=True), r.python("model.py(41): forward"):
                self.linear(self.width, 3 * self.width)
                self.attention()
                self.linear(self.width, self.width)
            self.elementwise("aten::add", [shape, shape], "AddBackward0")
            self.layer_norm()
            with r.python("nn.Module: MLP", module=True), r.python("model.py(64): forward"):
                self.linear(self.width, 4 * self.width)
                with r.python("nn.Module: GELU", module=True), r.python("<built-in function gelu>"):
                    self.elementwise("aten::gelu", [[self.batch, self.tokens, 4 * self.width]], "GeluBackward0",
                                     "aten::gelu_backward", 8)
                self.linear(4 * self.width, self.width)
                with r.python("nn.Module: Dropout", module=True):
                    r.spend(500)
            self.elementwise("aten::add", [shape, shape], "AddBackward0")
        self.tape.append(("all_reduce", self.layers, None, lambda: self.all_reduce(12 * self.width * self.width)))

    def all_reduce(self, elements):
        r = self.r
        ranks = list(range(max(2, self.world_size)))
        common = {"Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": elements,
                  "Out msg nelems": elements, "Group size": len(ranks), "Process Group Name": "0",
                  "Process Group Ranks": json.dumps(ranks), "In split size": "[]", "Out split size": "[]"}
        with r.op("c10d::allreduce_", [[elements]], [DTYPE]):
            with r.op("record_param_comms", [[elements]], [DTYPE], **common):
                r.launch("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                         stream=COMM_STREAM, duration=9000 + 1e9 * BYTES * elements / 150e9, **common)

    def forward(self):
        r = self.r
        self.tape = []
        with r.python("nn.Module: VisionTransformer", module=True), r.python("model.py(131): forward"):
            self.patch_embedding()
            for _ in range(self.layers):
                self.block()
            self.layer_norm()
            self.elementwise("aten::mean", [[self.batch, self.tokens, self.width]], "MeanBackward1", "aten::div")
            self.linear(self.width, 1000)
        with r.python("nn.Module: CrossEntropyLoss", module=True), r.python("<built-in function cross_entropy_loss>"):
            with r.op("aten::cross_entropy_loss", [[self.batch * self.tokens, 1000], [self.batch * self.tokens]],
                      [DTYPE, "long int"]):
                with r.op("aten::_log_softmax", [[self.batch * self.tokens, 1000]], [DTYPE]):
                    r.launch("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float>",
                             0, 2 * BYTES * self.batch * self.tokens * 1000)

    def backward(self):
        r = self.r
        forward_thread, r.thread = r.thread, BACKWARD_THREAD
        r.clock[BACKWARD_THREAD] = max(r.clock[BACKWARD_THREAD], r.clock[forward_thread] + 5000)
        for name, number, forward_event, work in reversed(self.tape):
            if forward_event is None:
                work()
                continue
            with r.op(f"autograd::engine::evaluate_function: {name}", sequence=number) as event:
                with r.op(name, sequence=number):
                    work()
            r.flow("fwdbwd", "fwdbwd", number, forward_event, event)
        r.thread = forward_thread
        r.clock[forward_thread] = max(r.clock[forward_thread], r.clock[BACKWARD_THREAD] + 3000)

    def optimizer(self):
        r = self.r
        elements = 12 * self.layers * self.width * self.width
        with r.python("torch/optim/adamw.py(220): step"):
            with r.span("user_annotation", "Optimizer.step#AdamW.step"):
                for name in ("aten::_foreach_mul_", "aten::_foreach_lerp_", "aten::_foreach_addcdiv_"):
                    with r.op(name):
                        r.launch("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<3>>",
                                 elements, 3 * BYTES * elements)

    def step(self, number, world_size):
        r = self.r
        self.world_size = world_size
        with r.span("user_annotation", f"ProfilerStep#{number}"), r.python("train.py(57): train_step"):
            with r.op("aten::to", [[self.batch, 3, 256, 256]], ["float"]):
                with r.op("aten::copy_", [[self.batch, 3, 256, 256], [self.batch, 3, 256, 256], []],
                          [DTYPE, "float", "Scalar"], ["", "", "True"]):
                    r.launch("Memcpy HtoD (Pinned -> Device)", moved=4 * self.batch * 3 * 256 * 256,
                             call="cudaMemcpyAsync", cat="gpu_memcpy", duration=130000)
            with r.op("aten::zero_", [[self.layers, self.width]]):
                r.launch("Memset (Device)", moved=BYTES * self.layers * self.width, call="cudaMemsetAsync",
                         cat="gpu_memset", duration=1200)
            self.forward()
            self.backward()
            self.optimizer()
            with r.span("cuda_runtime", "cudaDeviceSynchronize", {"cbid": 165, "correlation": r.correlation}):
                r.correlation += 1
                r.clock[r.thread] = max(r.clock[r.thread], max(r.stream_free.values()) + 2000)


def early_kernels(r, n):
    """Kernels that were launched before the profiler started: GPU event and flow end, nothing else."""
    for i in range(n):
        start = r.stream_free[COMPUTE_STREAM] + 1500
        duration = round(21000 * r.jitter(0.1))
        r.stream_free[COMPUTE_STREAM] = start + duration
        r.add(ph="X", cat="kernel", name="void at::native::vectorized_elementwise_kernel<4, at::native::copy_functor>",
              pid=r.gpu_pid, tid=COMPUTE_STREAM, ts=start, dur=duration,
              args={"device": r.rank, "context": 1, "stream": COMPUTE_STREAM, "correlation": 900 + i})
        r.add(ph="f", id=900 + i, pid=r.gpu_pid, tid=COMPUTE_STREAM, ts=start, cat="ac2g", name="ac2g", bp="e")


def metadata(r):
    def meta(name, pid, tid, /, **args):
        return {"name": name, "ph": "M", "ts": r.start, "pid": pid, "tid": tid, "args": args}
    yield meta("process_name", r.pid, 0, name="python3")
    yield meta("process_labels", r.pid, 0, labels="CPU")
    yield meta("process_sort_index", r.pid, 0, sort_index=r.pid)
    yield meta("process_name", r.gpu_pid, 0, name="python3")
    yield meta("process_labels", r.gpu_pid, 0, labels=f"GPU {r.gpu_pid}")
    yield meta("thread_name", r.pid, FORWARD_THREAD, name=f"thread {FORWARD_THREAD} (python3)")
    yield meta("thread_name", r.pid, BACKWARD_THREAD, name=f"thread {BACKWARD_THREAD} (pt_autograd_0)")
    for stream in (COMPUTE_STREAM, COMM_STREAM):
        yield meta("thread_name", r.gpu_pid, stream, name=f"stream {stream}")


def decimal(nanoseconds):
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"


def write_event(out, event):
    """Kineto's own layout: key order, microseconds with three decimals, args on a line of their own."""
    parts = []
    for key in ("ph", "cat", "name", "id", "pid", "tid", "ts", "dur", "bp"):
        if key in event:
            value = decimal(event[key]) if key in ("ts", "dur") else json.dumps(event[key], ensure_ascii=False)
            parts.append(f'"{key}": {value}')
    out.write("  {\n    " + ", ".join(parts))
    if event.get("args"):
        out.write(',\n    "args": {\n      ' + json.dumps(event["args"], ensure_ascii=False)[1:-1] + "\n    }")
    out.write("\n  }")


def make(layers, steps, rank, world_size, slower):
    r = Recorder(rank, slower)
    model = Model(r, layers)
    with r.python("train.py(71): <module>"):
        early_kernels(r, 4)
        for number in range(steps):
            model.step(number + 3, world_size)
    # Kineto writes operations first and GPU activity later; what matters is that nothing relies on it
    order = {"python_function": 1, "cuda_runtime": 2, "ac2g": 3, "kernel": 3, "gpu_memcpy": 3, "gpu_memset": 3}
    events = list(metadata(r)) + sorted(r.events, key=lambda e: (order.get(e["cat"], 0), e["ts"]))
    end = max(r.clock.values())
    events.append({"name": "Iteration Start: PyTorch Profiler", "cat": "Trace", "ph": "i", "ts": r.start - 900, "pid": "Traces",
                   "tid": "Trace PyTorch Profiler"})
    events.append({"name": "Record Window End", "cat": "", "ph": "i", "ts": end, "pid": "", "tid": ""})

    out = io.StringIO()
    head = {"schemaVersion": 1,
            "deviceProperties": [{"id": rank, "name": "Example GPU", "totalGlobalMem": 85899345920, "computeMajor": 9,
                                  "computeMinor": 0, "numSms": 132}],
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world_size},
            "record_shapes": 1, "with_stack": 1, "with_modules": 1}
    out.write("{\n")
    for key, value in head.items():
        out.write(f"  {json.dumps(key)}: {json.dumps(value)},\n")
    out.write('  "traceEvents": [\n')
    for i, event in enumerate(events):
        if i:
            out.write(",\n")
        write_event(out, event)
    out.write('\n  ],\n  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": 1759276800000000000,\n')
    out.write(f'  "traceName": "example_rank{rank}.pt.trace.json"\n}}\n')
    return out.getvalue()


def main():
    def change(text):
        name, equals, factor = text.rpartition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"'{text}' is not NAME=FACTOR")
        return name, float(factor)

    change.__name__ = "NAME=FACTOR"  # for argparse's messages
    p = argparse.ArgumentParser(description=__doc__.partition("\nusage:")[0],
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", metavar="OUT", help="the file to write, packed when its name ends in .gz")
    p.add_argument("--layers", type=int, default=3, metavar="N", help="transformer layers (3)")
    p.add_argument("--steps", type=int, default=2, metavar="N", help="training steps (2)")
    p.add_argument("--rank", type=int, default=0, metavar="R", help="rank of the trace (0)")
    p.add_argument("--world-size", type=int, default=2, metavar="W", help="number of ranks, 2 at least (2)")
    p.add_argument("--slower", type=change, action="append", default=[], metavar="NAME=FACTOR",
                   help="multiply the time of kernels whose name contains NAME; may be given again")
    o = p.parse_args()
    slower = dict(o.slower)
    text = make(o.layers, o.steps, o.rank, o.world_size, slower).encode()
    if o.out.endswith(".gz"):
        with open(o.out, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as g:
            g.write(text)
    else:
        with open(o.out, "wb") as f:
            f.write(text)


if __name__ == "__main__":
    main()
