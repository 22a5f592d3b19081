# SPDX-License-Identifier: MIT
"""Attention."""
from .._evaluate import estimate, size
from .model import Model
from .registry import define, public


def extract_sdpa_cfg(q_shape, k_shape, v_shape, bhnd_idx):
    """Sizes of an attention from the shapes of queries, keys and values; ``bhnd_idx`` says where batch, heads, length
    and size of a head stand. ValueError when the shapes do not belong together."""
    b, h, n, d = bhnd_idx
    q, k, v = q_shape, k_shape, v_shape
    if not q[b] == k[b] == v[b]:
        raise ValueError(f"batches differ: {q[b]}, {k[b]}, {v[b]}")
    return _sdpa_cfg(q[b], q, k, v, (h, n, d))


def extract_sdpa_varlen_cfg(q_shape, k_shape, v_shape, hnd_idx):
    """The same of packed sequences, which have no batch."""
    return _sdpa_cfg(1, q_shape, k_shape, v_shape, hnd_idx)


def _sdpa_cfg(batch, q, k, v, hnd):
    h, n, d = hnd
    if k[h] != v[h] or k[n] != v[n]:
        raise ValueError(f"keys {k} and values {v} differ in heads or length")
    if q[d] != k[d]:
        raise ValueError(f"heads of queries {q} and keys {k} differ in size")
    return {"B": batch, "N_Q": q[n], "H_Q": q[h], "N_KV": k[n], "H_KV": k[h], "d_h_qk": q[d], "d_h_v": v[d]}


def _sdpa(which, B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, **more):
    return estimate("sdpa", which, B=B, N_Q=N_Q, H_Q=H_Q, N_KV=N_KV, H_KV=H_KV, d_h_qk=d_h_qk, d_h_v=d_h_v,
                    causal=bool(causal), **more)


class SDPA(Model):
    """Scaled dot-product attention.

    Parameters: ``B``, ``N_Q``, ``H_Q``, ``N_KV``, ``H_KV``, ``d_h_qk``, ``d_h_v``, ``causal``, ``flash_impl``, and
    ``dtype_A_B`` for the precision.
    """

    category = "SDPA_fwd"
    bwd_category = "SDPA_bwd"
    _unit = "matrix"
    _dtypes = "dtype_A_B"
    _is_backward = False
    _varlen = False

    def __init__(self, event, arch=None, python_path=None, enable_origami=False, **kwargs):
        self.enable_origami = enable_origami
        super().__init__(event, arch, python_path, **kwargs)

    def _set_up(self):
        super()._set_up()
        self.d_h = self._value("d_h", self._value("d_h_qk"))

    @staticmethod
    def flops_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal):
        """FLOPs of both products; with ``causal`` those of the pairs that the mask leaves."""
        return _sdpa("flops", B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal)

    @staticmethod
    def bytes_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, bytes_per_element):
        """Bytes of queries, keys, values and the result."""
        if bytes_per_element is None:
            return None
        return _sdpa("bytes", B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, dtype=size(bytes_per_element))

    @staticmethod
    def flops_bwd_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, flash_impl):
        """FLOPs of all gradients; with ``flash_impl`` the product of queries and keys is computed again."""
        return _sdpa("flops", B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, flash=bool(flash_impl), backward=True)

    @staticmethod
    def bytes_bwd_func(B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, bytes_per_element):
        """Bytes of queries, keys, values, the result's gradient, and the gradients of the first three."""
        if bytes_per_element is None:
            return None
        return _sdpa("bytes", B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v, causal, dtype=size(bytes_per_element),
                     backward=True)

    def _sizes(self):
        names = ("B", "N_Q", "H_Q", "N_KV", "H_KV", "d_h_qk", "d_h_v", "causal")
        return tuple(self._value(name) for name in names)

    def flops(self):
        """FLOPs of the operation; of a backward one those of the gradients."""
        return self._cost("flops", "flops_bwd_func" if self._is_backward else "flops_func")

    def bytes(self, bytes_per_element=2):
        """Bytes of the operation."""
        if bytes_per_element in (None, 2):
            return self._cost("bytes", "bytes_bwd_func" if self._is_backward else "bytes_func")
        return self._bytes(bytes_per_element)

    def flops_bwd(self):
        """FLOPs of the backward pass."""
        return self._cost("flops_bwd", "flops_bwd_func")

    def bytes_bwd(self, bytes_per_element=2):
        """Bytes of the backward pass."""
        if bytes_per_element in (None, 2):
            return self._cost("bytes_bwd", "bytes_bwd_func")
        return self._bytes_bwd(bytes_per_element)

    def _packed(self, backward):
        """FLOPs of sequences of several lengths, packed into one."""
        v = self._value
        return estimate("sdpa_varlen", "flops", N_Q=v("N_Q"), N_KV=v("N_KV"), num_seqs=v("num_seqs_q"),
                        max_seqlen_q=int(v("max_seqlen_q")), max_seqlen_kv=int(v("max_seqlen_kv")), H_Q=v("H_Q"),
                        H_KV=v("H_KV"), d_h_qk=v("d_h_qk"), d_h_v=v("d_h_v"), causal=bool(v("causal")),
                        flash=bool(v("flash_impl", True)), backward=backward)

    def _flops(self):
        if self._varlen:
            return self._packed(self._is_backward)
        return self._flops_bwd() if self._is_backward else self.flops_func(*self._sizes())

    def _bytes(self, bytes_per_element=2):
        function = self.bytes_bwd_func if self._is_backward else self.bytes_func
        return function(*self._sizes(), bytes_per_element)

    def _flops_bwd(self):
        return self.flops_bwd_func(*self._sizes(), self._value("flash_impl", False))

    def _bytes_bwd(self, bytes_per_element=2):
        return self.bytes_bwd_func(*self._sizes(), bytes_per_element)

    @staticmethod
    def get_simulation_time_func(arch, dtype, python_path, dtype_A_B, bytes, B, H_Q, N_Q, N_KV, d_h, fa=True,
                                 enable_origami=False):
        """None: simulators are programs of their own (docs/estimates.md)."""
        return None

    get_simulation_time_bwd_func = get_simulation_time_func

    def get_simulation_time(self):
        """None: see :meth:`get_simulation_time_func`."""
        return None

    get_simulation_time_bwd = get_simulation_time


flash_attention = define(__name__, "flash_attention", SDPA, "flash_attn::_flash_attn_forward", "FlashAttnFunc")
flash_attention_backward = define(__name__, "flash_attention_backward", SDPA, "flash_attn::_flash_attn_backward",
                                  _is_backward=True)
flash_attention_varlen_forward = define(__name__, "flash_attention_varlen_forward", SDPA,
                                        "flash_attn::_flash_attn_varlen_forward", _varlen=True)
flash_attention_varlen_backward = define(__name__, "flash_attention_varlen_backward", SDPA,
                                         "flash_attn::_flash_attn_varlen_backward", _varlen=True, _is_backward=True)
aten__scaled_dot_product_cudnn_attention = define(__name__, "aten__scaled_dot_product_cudnn_attention", SDPA,
                                                  "aten::_scaled_dot_product_cudnn_attention")
aten__scaled_dot_product_efficient_attention = define(__name__, "aten__scaled_dot_product_efficient_attention", SDPA,
                                                      "aten::_scaled_dot_product_efficient_attention")
aten__scaled_dot_product_flash_attention = define(__name__, "aten__scaled_dot_product_flash_attention", SDPA,
                                                  "aten::_scaled_dot_product_flash_attention")
aiter__flash_attn_forward = define(__name__, "aiter__flash_attn_forward", SDPA, "aiter::_flash_attn_forward")
aiter__flash_attn_backward = define(__name__, "aiter__flash_attn_backward", SDPA, "aiter::_flash_attn_backward",
                                    _is_backward=True)
aiter__fmha_v3_forward = define(__name__, "aiter__fmha_v3_forward", SDPA, "aiter::wrapper_fmha_v3_fwd")
aiter__fmha_v3_backward = define(__name__, "aiter__fmha_v3_backward", SDPA, "aiter::wrapper_fmha_v3_bwd",
                                 _is_backward=True)
aiter__fmha_v3_fwd = define(__name__, "aiter__fmha_v3_fwd", SDPA, "aiter::fmha_v3_fwd")
aiter__mha_fwd = define(__name__, "aiter__mha_fwd", SDPA, "aiter::mha_fwd")
aiter__mha_bwd = define(__name__, "aiter__mha_bwd", SDPA, "aiter::mha_bwd", _is_backward=True)
flash_attn_v3_forward = define(__name__, "flash_attn_v3_forward", SDPA, "flash_attn_3::fwd")
evoformer_attention = define(__name__, "evoformer_attention", SDPA, "EvoformerAttention")
# serving frameworks call it, too: extensions have the class of that
vllm_unified_attention_with_output = define(__name__, "vllm_unified_attention_with_output", SDPA,
                                            "vllm::unified_attention_with_output", mapped=False)

__all__ = public(__name__, globals())
