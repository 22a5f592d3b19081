-- SPDX-License-Identifier: MIT
-- Extension file: a model of an operation of one's own, an overridden model, and a category.
--   tracelens report trace.json --extension_file custom_op.lua
-- The guide is docs/extending.md.

-- myops::scaled_add(x, y, alpha): two tensors are read, one is written, two FLOPs an element.
model {
  name = "myops::scaled_add",
  category = "BinaryElementwise",
  sheet = "BinaryElementwise",
  eval = function(op)
    local n, size = prod(op.dims[1]), bytes_of(op.types[1])
    return {
      params = { { "shape", op.dims[1] }, { "alpha", literal(op.concrete[3]) } },
      flops = 2 * n,
      bytes = size and 3 * n * size,
      maf = "vector",
      precision = precision_of(op.types[1]),
    }
  end,
}

-- A copy between tensors of one shape, in a sheet of its own: "Copies".
model {
  name = "aten::copy_",
  sheet = "Copies",
  eval = function(op)
    local n = prod(op.dims[1])
    local to, from = bytes_of(op.types[1]), bytes_of(op.types[2])
    if not (to and from) then return nil end -- not covered: no metrics, no complaint
    return {
      params = { { "elements", n }, { "from", op.types[2] }, { "to", op.types[1] } },
      flops = 0,
      bytes = n * (to + from),
      maf = "vector",
      precision = precision_of(op.types[1]),
    }
  end,
}

category {
  ["aten::_foreach_mul_"] = "optimizer",
  ["aten::_foreach_addcdiv_"] = "optimizer",
}
