-- SPDX-License-Identifier: MIT
-- Extension file for Megatron-style training with Transformer Engine 2: fused modules whose matrix multiplications do not
-- show as operations, because the module launches them itself.
--   tracelens report trace.json --extension_file megatron.lua
--
-- What it does to the call tree, in this order:
--   1. links the forward halves that activation checkpointing runs again to their backward halves,
--   2. puts an operation around each GEMM kernel of _Linear and _LayerNormLinear, so that it has shapes and a roofline,
--   3. tells the backward of _LayerNormLinear the shapes of its norm, which only the forward knows.
-- Then it declares models for these operations and for fused attention, grouped GEMMs and layer norms.
-- Positions of arguments count from 1, as everything in Lua.
--
-- Where it differs from the Megatron extension of the Python tool: the backward of a layer norm counts the gradient of the bias
-- when the forward has one (there: never), and lists which gradients are computed (`output_mask`), as aten's norms do.

local LINEAR, NORM_LINEAR = "_Linear", "_LayerNormLinear"

-- Where the arguments of a fused module are.
local layouts = {
  [LINEAR] = { weight = 1, input = 2, fp8 = 5 },
  [NORM_LINEAR] = { weight = 4, input = 1, fp8 = 8 },
}

local function warn(...)
  print("megatron.lua: " .. string.format(...))
end

-- ---- 1. checkpoint links ----

local function by_start(events)
  table.sort(events, function(a, b)
    if a.ts ~= b.ts then return a.ts < b.ts end
    return a.uid < b.uid
  end)
  return events
end

-- Inside CheckpointFunctionBackward the forward runs once more and then backward, in the opposite order.
local function link_checkpoint(t, checkpoint, name)
  local forwards = {}
  for _, child in ipairs(checkpoint.children) do
    if child.name == name then forwards[#forwards + 1] = child end
  end
  local backwards = by_start(checkpoint:descendants(name .. "Backward"))
  by_start(forwards)
  if #forwards ~= #backwards then
    warn("%s has %d %s and %d %sBackward; they stay unlinked", checkpoint, #forwards, name, #backwards, name)
    return
  end
  for i, forward in ipairs(forwards) do
    if #forward.backward == 0 then t:link(forward, backwards[#backwards - i + 1]) end
  end
end

-- ---- 2. an operation around each GEMM kernel ----

local function is_gemm(kernel)
  local name = kernel.name
  return kernel.category == "kernel"
    and (name:find("C.*_A.*_B") or name:find("^RR_GEMM_") or name:find("^nvjet")) ~= nil
end

-- GEMM kernels below some events, by the start of their launch.
local function gemm_kernels(events)
  local found, seen = {}, {}
  for _, event in ipairs(events) do
    for _, kernel in ipairs(event.gpu_events) do
      if is_gemm(kernel) and not seen[kernel] then
        seen[kernel] = true
        found[#found + 1] = kernel
      end
    end
  end
  table.sort(found, function(a, b)
    local x, y = a.parent, b.parent
    if x.ts ~= y.ts then return x.ts < y.ts end
    return a.uid < b.uid
  end)
  return found
end

-- The kernel gets an operation of its own with two matrices as arguments.
local function isolate(kernel, name, module, a, b, dtype)
  local op = kernel:isolate(name)
  op.dims = { a, b }
  op.types = { dtype, dtype }
  op.strides = {}
  op.concrete = {}
  op.sequence = module.sequence
  op:set_arg("Pseudo op", true)
end

-- Weight and input of a module as matrices, and their type; nil when they do not fit.
local function operands(module, layout)
  local weight, input = module.dims[layout.weight], module.dims[layout.input]
  local weight_type, input_type = module.types[layout.weight], module.types[layout.input]
  if not weight or not input or #weight ~= 2 or #input == 0 then return nil end
  local k = input[#input]
  if k ~= weight[2] or weight_type ~= input_type then return nil end
  local rows = 1
  for i = 1, #input - 1 do rows = rows * input[i] end
  local dtype = literal(module.concrete[layout.fp8]) == true and "fp8" or input_type
  return rows, k, weight[1], dtype
end

local function add_gemms(module, done)
  local layout = layouts[module.name]
  local sequence = module.sequence
  if sequence and done[sequence] then return end
  local rows, k, n, dtype = operands(module, layout)
  if not rows then return end
  local forward, backward = gemm_kernels { module }, gemm_kernels(module.backward)
  if #forward ~= 1 or #backward ~= 2 then return end
  -- Y = X W', dX = dY W, dW = dY' X; the gradient of the input is launched first
  isolate(forward[1], module.name .. "_yfwd_mm", module, { rows, k }, { k, n }, dtype)
  isolate(backward[1], module.name .. "Backward_xgrad_mm", module, { rows, n }, { n, k }, dtype)
  isolate(backward[2], module.name .. "Backward_wgrad_mm", module, { n, rows }, { rows, k }, dtype)
  if sequence then done[sequence] = true end
end

-- ---- 3. shapes of the norm ----

local function backward_modules(module)
  local name, found = module.name .. "Backward", {}
  for _, event in ipairs(module.backward) do
    if event.name == name then
      found[#found + 1] = event
    else
      for _, child in ipairs(event.children) do
        if child.name == name then found[#found + 1] = child end
      end
    end
  end
  return found
end

tree(function(t)
  for _, checkpoint in ipairs(t:events("CheckpointFunctionBackward")) do
    link_checkpoint(t, checkpoint, LINEAR)
    link_checkpoint(t, checkpoint, NORM_LINEAR)
  end
  -- version 1 of Transformer Engine runs its GEMMs as operations, which have a model
  if #t:events("tex_ts::te_gemm_ts") == 0 then
    for _, name in ipairs { LINEAR, NORM_LINEAR } do
      local done = {}
      for _, gemm in ipairs(t:events(name .. "Backward_xgrad_mm")) do
        if gemm.sequence then done[gemm.sequence] = true end
      end
      for _, module in ipairs(t:events(name)) do add_gemms(module, done) end
    end
  end
  for _, module in ipairs(t:events(NORM_LINEAR)) do
    for _, backward in ipairs(backward_modules(module)) do
      backward:set_arg("_ln_input_shape", module.dims[1])
      backward:set_arg("_ln_weight_shape", module.dims[2])
      backward:set_arg("_ln_bias_shape", module.dims[3] or {})
    end
  end
  for _, module in ipairs(t:events("LayerNormFn")) do
    for _, backward in ipairs(backward_modules(module)) do
      backward:set_arg("_ln_bias_shape", module.dims[3] or {})
    end
  end
end)

-- ---- models ----

-- A[M, K] B[K, N]; the result has two bytes an element whatever the operands have.
local function gemm(op)
  local a, b, dtype = op.dims[1], op.dims[2], op.types[1]
  local m, k, n = a[1], a[2], b[2]
  local size = bytes_of(dtype)
  return {
    params = { { "M", m }, { "N", n }, { "K", k }, { "bias", false }, { "dtype", dtype } },
    flops = 2 * m * n * k,
    bytes = size and (m * k + k * n) * size + m * n * 2,
    maf = "matrix",
    precision = precision_of(dtype),
  }
end

for _, name in ipairs { LINEAR, NORM_LINEAR } do
  for _, ending in ipairs { "_yfwd_mm", "Backward_xgrad_mm", "Backward_wgrad_mm" } do
    model { name = name .. ending, category = "GEMM", sheet = "GEMM", eval = gemm }
  end
end

-- Query, key and value are [tokens, batch, heads, size of a head]; the built-in model wants batch, heads, tokens, size.
model {
  name = "FusedAttnFunc",
  category = "SDPA_fwd",
  bwd_category = "SDPA_bwd",
  sheet = "SDPA",
  eval = function(op)
    local dims, types = {}, {}
    for i = 1, 3 do
      local d = op.dims[9 + i]
      dims[i] = { d[2], d[3], d[1], d[4] }
      types[i] = op.types[9 + i]
    end
    return builtin("aten::_scaled_dot_product_flash_attention",
      { dims = dims, types = types, concrete = { "", "", "", "0.0", "True" } })
  end,
}

-- X[M, K] and G weights, [G, N, K] when transposed, else [G, K, N].
model {
  name = "GroupedGemm",
  category = "GroupedGEMM_fwd",
  bwd_category = "GroupedGEMM_bwd",
  sheet = "GroupedGEMM",
  eval = function(op)
    local x, w, dtype = op.dims[1], op.dims[2], op.types[1]
    local g, k, n = w[1], w[2], w[3]
    if literal(op.concrete[4]) == true then k, n = n, k end
    local m, size = x[1], bytes_of(dtype)
    local read = size and (m * k + g * k * n) * size
    return {
      params = { { "M", m }, { "K", k }, { "N", n }, { "G", g }, { "bpe_in", size or null }, { "bpe_out", 2 } },
      flops = 2 * m * k * n,
      bytes = size and read + m * n * 2,
      flops_bwd = 4 * m * k * n, -- gradients of X and of W
      bytes_bwd = size and 2 * m * n * 2 + 2 * read,
      maf = "matrix",
      precision = precision_of(dtype),
    }
  end,
}

local function brackets(shape)
  return "[" .. table.concat(shape, ", ") .. "]"
end

local function layer_norm(op)
  local input, weight, bias = op.dims[1], op.dims[2], op.dims[3]
  return builtin("aten::native_layer_norm", {
    dims = { input, {}, weight, bias and #bias > 0 and bias or null },
    types = { op.types[1] },
    concrete = { "", brackets(weight) },
  })
end

local function layer_norm_backward(input, weight, bias, dtype)
  return builtin("aten::native_layer_norm_backward", {
    dims = { input, input, {}, {}, {}, weight, weight },
    types = { dtype, dtype },
    concrete = { "", "", brackets(weight), "", "", "", "", bias and #bias > 0 and "[True, True, True]" or "[True, True, False]" },
  })
end

for _, name in ipairs { "LayerNormFn", NORM_LINEAR } do
  model { name = name, category = "NORM_fwd", sheet = "Normalization", eval = layer_norm }
end

model {
  name = "LayerNormFnBackward",
  category = "NORM_bwd",
  sheet = "Normalization",
  eval = function(op)
    return layer_norm_backward(op.dims[1], op.dims[2], op.extra._ln_bias_shape, op.types[1])
  end,
}

model {
  name = "_LayerNormLinearBackward",
  category = "NORM_bwd",
  sheet = "Normalization",
  eval = function(op)
    local input, weight = op.extra._ln_input_shape, op.extra._ln_weight_shape
    if not input or not weight then return nil end -- no forward was found: nobody knows the shapes
    return layer_norm_backward(input, weight, op.extra._ln_bias_shape, op.types[1])
  end,
}

category {
  FusedAttnFuncBackward = "SDPA_bwd",
  GroupedGemmBackward = "GroupedGEMM_bwd",
}
