# SPDX-License-Identifier: MIT
"""Kernels that torch.compile makes."""
from ._evaluate import parameters
from .families.model import Model


class TritonCompiledPerfModel(Model):
    """A compiled kernel, ``triton_poi_...``, ``triton_red_...`` or ``triton_per_...``."""

    def __init__(self, event, arch=None, python_path=None, **kwargs):
        super().__init__(event, arch, python_path, **kwargs)

    @classmethod
    def get_param_details(cls, event):
        """Fused operations and numbers of elements, from the kernel's name and arguments."""
        return parameters(event["name"], event)
