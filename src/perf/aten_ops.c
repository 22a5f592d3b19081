/* SPDX-License-Identifier: MIT */
/*
 * Names of ATen operations and functional collectives that Inductor may fuse into a kernel, without namespace.
 * They only serve to take kernel names apart. In-place forms are derived.
 */
#include <string.h>

#include "perf/triton.h"

/* sorted by bytes: a unit test checks it */
/* clang-format off */
static const char *const names[] = {
	"_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d",
	"_adaptive_avg_pool3d_backward", "_addmm_activation", "_batch_norm_no_update", "_batch_norm_with_update",
	"_batch_norm_with_update_functional", "_cdist_backward", "_cdist_forward", "_conj", "_conj_physical",
	"_convert_indices_from_coo_to_csr", "_convolution", "_copy_from", "_copy_from_and_resize", "_cslt_sparse_mm",
	"_cudnn_rnn", "_dim_arange", "_efficient_attention_backward", "_efficient_attention_forward",
	"_embedding_bag", "_embedding_bag_backward", "_embedding_bag_dense_backward", "_embedding_bag_forward_only",
	"_euclidean_dist", "_fake_quantize_learnable_per_channel_affine",
	"_fake_quantize_learnable_per_tensor_affine", "_fft_c2c", "_fft_c2r", "_fft_r2c", "_flash_attention_backward",
	"_flash_attention_forward", "_foreach_abs", "_foreach_add", "_foreach_addcdiv", "_foreach_addcmul",
	"_foreach_clamp_max", "_foreach_clamp_min", "_foreach_copy", "_foreach_div", "_foreach_exp", "_foreach_lerp",
	"_foreach_maximum", "_foreach_minimum", "_foreach_mul", "_foreach_neg", "_foreach_norm", "_foreach_pow",
	"_foreach_reciprocal", "_foreach_rsqrt", "_foreach_sign", "_foreach_sqrt", "_foreach_sub", "_foreach_zero",
	"_fused_adagrad", "_fused_adam", "_fused_adamw", "_fused_dropout", "_fused_moving_avg_obs_fq_helper",
	"_fused_moving_avg_obs_fq_helper_functional", "_fused_rms_norm", "_fused_rms_norm_backward", "_fused_sgd",
	"_grouped_mm", "_histogramdd_bin_edges", "_index_put_impl", "_int_mm", "_jagged_to_padded_dense_forward",
	"_linalg_det", "_linalg_eigh", "_linalg_slogdet", "_linalg_solve_ex", "_linalg_svd", "_local_scalar_dense",
	"_log_softmax", "_log_softmax_backward_data", "_logcumsumexp", "_lstm_mps",
	"_make_per_tensor_quantized_tensor", "_masked_scale", "_masked_softmax", "_masked_softmax_backward",
	"_mixed_dtypes_linear", "_native_batch_norm_legit", "_native_batch_norm_legit_functional",
	"_native_batch_norm_legit_no_training", "_native_multi_head_attention", "_neg_view",
	"_nested_tensor_from_tensor_list", "_nested_view_from_buffer", "_pack_padded_sequence",
	"_padded_dense_to_jagged_forward", "_pdist_backward", "_pdist_forward", "_pin_memory", "_prelu_kernel",
	"_prelu_kernel_backward", "_reshape_alias", "_reshape_copy", "_resize_output", "_safe_softmax",
	"_scaled_dot_product_attention", "_scaled_dot_product_attention_math", "_scaled_dot_product_cudnn_attention",
	"_scaled_dot_product_cudnn_attention_backward", "_scaled_dot_product_efficient_attention",
	"_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_flash_attention",
	"_scaled_dot_product_flash_attention_backward", "_scaled_dot_product_flash_attention_for_cpu",
	"_scaled_dot_product_flash_attention_for_cpu_backward", "_scaled_dot_product_fused_attention_overrideable",
	"_scaled_dot_product_fused_attention_overrideable_backward", "_scaled_grouped_mm", "_scaled_mm",
	"_segment_reduce_backward", "_shape_as_tensor", "_slow_conv2d_backward", "_slow_conv2d_forward", "_softmax",
	"_softmax_backward_data", "_sparse_addmm", "_sparse_coo_tensor_unsafe", "_sparse_log_softmax", "_sparse_mm",
	"_sparse_softmax", "_sparse_sum", "_stack", "_standard_gamma", "_test_serialization_subcmul",
	"_thnn_fused_gru_cell", "_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward", "_to_copy", "_to_cpu",
	"_transform_bias_rescale_qkv", "_transformer_encoder_layer_fwd", "_trilinear", "_triton_multi_head_attention",
	"_triton_scaled_dot_attention", "_unique", "_unique2", "_unsafe_index", "_unsafe_index_put",
	"_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "_unsafe_view", "_upsample_bicubic2d_aa",
	"_upsample_bicubic2d_aa_backward", "_upsample_bilinear2d_aa", "_upsample_bilinear2d_aa_backward",
	"_upsample_nearest_exact1d", "_upsample_nearest_exact1d_backward", "_upsample_nearest_exact2d",
	"_upsample_nearest_exact2d_backward", "_upsample_nearest_exact3d", "_upsample_nearest_exact3d_backward",
	"_weight_int4pack_mm", "_weight_int8pack_mm", "_weight_norm", "_weight_norm_interface",
	"_weight_norm_interface_backward", "abs", "absolute", "acos", "acosh", "adaptive_avg_pool1d",
	"adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
	"adaptive_max_pool2d_backward", "adaptive_max_pool3d", "adaptive_max_pool3d_backward", "add", "addbmm",
	"addcdiv", "addcmul", "addmm", "addmv", "addr", "affine_grid_generator", "affine_grid_generator_backward",
	"alias", "alias_copy", "align_as", "align_tensors", "align_to", "all", "all_gather_into_tensor",
	"all_gather_into_tensor_coalesced", "all_gather_into_tensor_out", "all_reduce", "all_reduce_coalesced",
	"all_to_all_single", "allclose", "alpha_dropout", "amax", "amin", "aminmax", "angle", "any", "arange",
	"arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort",
	"argwhere", "as_strided", "as_strided_copy", "as_strided_scatter", "asin", "asinh", "atan", "atan2", "atanh",
	"avg_pool1d", "avg_pool2d", "avg_pool2d_backward", "avg_pool3d", "avg_pool3d_backward", "baddbmm",
	"batch_norm", "batch_norm_backward", "batch_norm_backward_elemt", "batch_norm_backward_reduce",
	"batch_norm_elemt", "batch_norm_gather_stats", "batch_norm_stats", "bernoulli", "bilinear",
	"binary_cross_entropy", "binary_cross_entropy_backward", "binary_cross_entropy_with_logits", "bincount",
	"binomial", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
	"bitwise_xor", "blackman_window", "block_diag", "bmm", "broadcast", "broadcast_tensors", "broadcast_to",
	"bucketize", "cartesian_prod", "cat", "cauchy", "cdist", "ceil", "celu", "chain_matmul", "channel_shuffle",
	"cholesky", "cholesky_inverse", "cholesky_solve", "chunk", "clamp", "clamp_max", "clamp_min", "clip", "clone",
	"col2im", "column_stack", "combinations", "complex", "concat", "concatenate", "conj", "conj_physical",
	"constant_pad_nd", "contiguous", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
	"conv_transpose2d", "conv_transpose3d", "convolution", "convolution_backward", "convolution_overrideable",
	"copy", "copysign", "corrcoef", "cos", "cosh", "cosine_embedding_loss", "cosine_similarity", "count_nonzero",
	"cov", "cross", "cross_entropy_loss", "ctc_loss", "cudnn_batch_norm", "cudnn_batch_norm_backward",
	"cudnn_convolution", "cudnn_convolution_relu", "cudnn_convolution_transpose", "cummax", "cummaxmin_backward",
	"cummin", "cumprod", "cumprod_backward", "cumsum", "cumulative_trapezoid", "deg2rad", "dense_dim",
	"dequantize", "det", "detach", "detach_copy", "diag", "diag_embed", "diagflat", "diagonal",
	"diagonal_backward", "diagonal_copy", "diagonal_scatter", "diff", "digamma", "dist", "div", "divide", "dot",
	"dropout", "dstack", "einsum", "elu", "elu_backward", "embedding", "embedding_backward", "embedding_bag",
	"embedding_dense_backward", "embedding_renorm", "empty", "empty_like", "empty_permuted", "empty_strided",
	"eq", "equal", "erf", "erfc", "erfinv", "exp", "exp2", "expand", "expand_as", "expand_copy", "expm1",
	"exponential", "eye", "fake_quantize_per_channel_affine", "fake_quantize_per_channel_affine_cachemask",
	"fake_quantize_per_tensor_affine", "fake_quantize_per_tensor_affine_cachemask", "feature_alpha_dropout",
	"feature_dropout", "fft_fft", "fft_fft2", "fft_fftn", "fft_fftshift", "fft_hfft", "fft_ifft", "fft_ifft2",
	"fft_ifftn", "fft_ifftshift", "fft_ihfft", "fft_irfft", "fft_irfft2", "fft_irfftn", "fft_rfft", "fft_rfft2",
	"fft_rfftn", "fill", "fill_diagonal", "fix", "flatten", "flip", "fliplr", "flipud", "float_power", "floor",
	"floor_divide", "fmax", "fmin", "fmod", "frac", "fractional_max_pool2d", "fractional_max_pool2d_backward",
	"fractional_max_pool3d", "fractional_max_pool3d_backward", "frexp", "frobenius_norm", "full", "full_like",
	"gather", "gather_backward", "gcd", "ge", "gelu", "gelu_backward", "geometric", "geqrf", "ger", "glu",
	"glu_backward", "glu_backward_jvp", "glu_jvp", "gradient", "greater", "greater_equal", "grid_sampler",
	"grid_sampler_2d", "grid_sampler_2d_backward", "grid_sampler_3d", "grid_sampler_3d_backward", "group_norm",
	"gru", "gru_cell", "gt", "hamming_window", "hann_window", "hardshrink", "hardshrink_backward", "hardsigmoid",
	"hardsigmoid_backward", "hardswish", "hardswish_backward", "hardtanh", "hardtanh_backward", "heaviside",
	"hinge_embedding_loss", "histc", "histogram", "hspmm", "hstack", "huber_loss", "huber_loss_backward", "hypot",
	"i0", "igamma", "igammac", "im2col", "imag", "index", "index_add", "index_copy", "index_fill", "index_put",
	"index_reduce", "index_select", "index_select_backward", "inner", "instance_norm", "inverse", "is_all_true",
	"is_any_true", "is_nonzero", "is_same_size", "isclose", "isfinite", "isin", "isinf", "isnan", "isneginf",
	"isposinf", "isreal", "istft", "item", "kaiser_window", "kl_div", "kron", "kthvalue", "l1_loss", "layer_norm",
	"lcm", "ldexp", "le", "leaky_relu", "leaky_relu_backward", "lerp", "less", "less_equal", "lgamma", "lift",
	"lift_fresh", "lift_fresh_copy", "linalg_cholesky", "linalg_cholesky_ex", "linalg_cross", "linalg_det",
	"linalg_eig", "linalg_eigh", "linalg_eigvals", "linalg_eigvalsh", "linalg_householder_product", "linalg_inv",
	"linalg_inv_ex", "linalg_ldl_factor", "linalg_lstsq", "linalg_lu", "linalg_lu_factor", "linalg_lu_factor_ex",
	"linalg_lu_solve", "linalg_matrix_exp", "linalg_matrix_norm", "linalg_matrix_power", "linalg_multi_dot",
	"linalg_norm", "linalg_pinv", "linalg_qr", "linalg_slogdet", "linalg_solve", "linalg_solve_ex",
	"linalg_solve_triangular", "linalg_svd", "linalg_svdvals", "linalg_vander", "linalg_vecdot",
	"linalg_vector_norm", "linear", "linear_backward", "linspace", "log", "log10", "log1p", "log2", "log_normal",
	"log_sigmoid", "log_sigmoid_backward", "log_sigmoid_forward", "log_softmax", "logaddexp", "logaddexp2",
	"logcumsumexp", "logdet", "logical_and", "logical_not", "logical_or", "logical_xor", "logit",
	"logit_backward", "logspace", "logsumexp", "lstm", "lstm_cell", "lt", "lu_solve", "lu_unpack", "mH", "mT",
	"margin_ranking_loss", "masked_fill", "masked_scatter", "masked_scatter_backward", "masked_select", "matmul",
	"matmul_backward", "matrix_exp", "matrix_power", "max", "max_pool1d", "max_pool1d_with_indices", "max_pool2d",
	"max_pool2d_backward", "max_pool2d_with_indices", "max_pool2d_with_indices_backward", "max_pool3d",
	"max_pool3d_with_indices", "max_pool3d_with_indices_backward", "max_unpool2d", "max_unpool3d", "maximum",
	"mean", "median", "meshgrid", "min", "minimum", "miopen_batch_norm", "miopen_batch_norm_backward",
	"miopen_convolution", "miopen_convolution_add_relu", "miopen_convolution_relu",
	"miopen_convolution_transpose", "miopen_depthwise_convolution", "miopen_rnn", "mish", "mish_backward",
	"mkldnn_convolution", "mkldnn_linear", "mm", "mode", "moveaxis", "movedim", "mse_loss", "mse_loss_backward",
	"msort", "mul", "multi_margin_loss", "multilabel_margin_loss", "multilabel_margin_loss_forward",
	"multinomial", "multiply", "mv", "mvlgamma", "nan_to_num", "nanmean", "nanmedian", "nanquantile", "nansum",
	"narrow", "narrow_copy", "native_batch_norm", "native_batch_norm_backward", "native_channel_shuffle",
	"native_dropout", "native_dropout_backward", "native_group_norm", "native_group_norm_backward",
	"native_layer_norm", "native_layer_norm_backward", "native_norm", "ne", "neg", "negative", "new_empty",
	"new_empty_strided", "new_full", "new_ones", "new_zeros", "nextafter", "nll_loss", "nll_loss2d",
	"nll_loss2d_backward", "nll_loss2d_forward", "nll_loss_backward", "nll_loss_forward", "nll_loss_nd",
	"nonzero", "nonzero_numpy", "nonzero_static", "norm", "norm_except_dim", "normal", "normal_functional",
	"not_equal", "nuclear_norm", "numel", "one_hot", "ones", "ones_like", "orgqr", "ormqr", "outer", "pad",
	"pad_sequence", "pairwise_distance", "pdist", "permute", "permute_copy", "pin_memory", "pixel_shuffle",
	"pixel_unshuffle", "poisson", "poisson_nll_loss", "polar", "polygamma", "positive", "pow", "prelu", "prod",
	"put", "qr", "quantile", "quantize_per_channel", "quantize_per_tensor", "quantize_per_tensor_dynamic",
	"quantized_max_pool2d", "rad2deg", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like",
	"random", "randperm", "range", "ravel", "real", "reciprocal", "record_stream", "reduce_scatter_tensor",
	"reduce_scatter_tensor_coalesced", "reflection_pad1d", "reflection_pad1d_backward", "reflection_pad2d",
	"reflection_pad2d_backward", "reflection_pad3d", "reflection_pad3d_backward", "relu", "relu6", "remainder",
	"renorm", "repeat", "repeat_interleave", "replication_pad1d", "replication_pad1d_backward",
	"replication_pad2d", "replication_pad2d_backward", "replication_pad3d", "replication_pad3d_backward",
	"reshape", "reshape_as", "resize", "resize_as", "resolve_conj", "resolve_neg", "rms_norm", "rnn_relu",
	"rnn_tanh", "roll", "rot90", "round", "rrelu", "rrelu_with_noise", "rrelu_with_noise_backward",
	"rrelu_with_noise_functional", "rsqrt", "rsub", "scalar_tensor", "scaled_dot_product_attention", "scatter",
	"scatter_add", "scatter_reduce", "searchsorted", "segment_reduce", "select", "select_backward", "select_copy",
	"select_scatter", "selu", "set", "set_data", "sgn", "sigmoid", "sigmoid_backward", "sign", "signbit", "silu",
	"silu_backward", "sin", "sinc", "sinh", "size", "slice", "slice_backward", "slice_copy", "slice_inverse",
	"slice_scatter", "slogdet", "slow_conv3d", "slow_conv_dilated2d", "slow_conv_transpose2d", "smooth_l1_loss",
	"smooth_l1_loss_backward", "soft_margin_loss", "soft_margin_loss_backward", "softmax", "softplus",
	"softplus_backward", "softshrink", "softshrink_backward", "sort", "sparse_dim", "sparse_mask",
	"special_airy_ai", "special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1",
	"special_digamma", "special_entr", "special_erf", "special_erfc", "special_erfcx", "special_erfinv",
	"special_exp2", "special_expit", "special_expm1", "special_gammainc", "special_gammaincc", "special_gammaln",
	"special_i0", "special_i0e", "special_i1", "special_i1e", "special_log1p", "special_log_ndtr",
	"special_log_softmax", "special_logit", "special_logsumexp", "special_modified_bessel_i0",
	"special_modified_bessel_i1", "special_modified_bessel_k0", "special_modified_bessel_k1",
	"special_multigammaln", "special_ndtr", "special_ndtri", "special_polygamma", "special_psi", "special_round",
	"special_scaled_modified_bessel_k0", "special_scaled_modified_bessel_k1", "special_sinc", "special_softmax",
	"special_spherical_bessel_j0", "special_xlog1py", "special_xlogy", "special_zeta", "split", "split_copy",
	"split_with_sizes", "split_with_sizes_copy", "sqrt", "square", "squeeze", "squeeze_copy", "stack", "std",
	"std_mean", "stft", "stride", "sub", "subtract", "sum", "sum_to_size", "svd", "swapaxes", "swapdims",
	"sym_numel", "sym_size", "sym_storage_offset", "sym_stride", "t", "t_copy", "take", "take_along_dim", "tan",
	"tanh", "tanh_backward", "tensor_split", "tensordot", "threshold", "threshold_backward", "tile", "to",
	"to_dense", "to_padded_tensor", "to_sparse", "topk", "trace", "transpose", "transpose_copy", "trapezoid",
	"trapz", "triangular_solve", "tril", "tril_indices", "trilinear", "triplet_margin_loss", "triu",
	"triu_indices", "true_divide", "trunc", "type_as", "unbind", "unbind_copy", "unflatten", "unfold",
	"unfold_backward", "unfold_copy", "uniform", "unique_consecutive", "unique_dim", "unsafe_chunk",
	"unsafe_split", "unsafe_split_with_sizes", "unsqueeze", "unsqueeze_copy", "upsample_bicubic2d",
	"upsample_bicubic2d_backward", "upsample_bilinear2d", "upsample_bilinear2d_backward", "upsample_linear1d",
	"upsample_linear1d_backward", "upsample_nearest1d", "upsample_nearest1d_backward", "upsample_nearest2d",
	"upsample_nearest2d_backward", "upsample_nearest3d", "upsample_nearest3d_backward", "upsample_trilinear3d",
	"upsample_trilinear3d_backward", "value_selecting_reduction_backward", "vander", "var", "var_mean", "vdot",
	"view", "view_as", "view_as_complex", "view_as_complex_copy", "view_as_real", "view_as_real_copy",
	"view_copy", "vsplit", "vstack", "wait_tensor", "where", "xlogy", "zero", "zeros", "zeros_like",
};
/* clang-format on */

const char *const *tl__aten_ops(size_t *n)
{
	*n = sizeof names / sizeof *names;
	return names;
}

static bool listed(const char *name, size_t n)
{
	size_t low = 0, high = sizeof names / sizeof *names;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strncmp(names[middle], name, n);
		if (order == 0 && names[middle][n])
			order = 1; /* a longer name */
		if (order == 0)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool tl__aten_op_known(const char *name, size_t n)
{
	return n && (listed(name, n) || (n > 1 && name[n - 1] == '_' && listed(name, n - 1)));
}
