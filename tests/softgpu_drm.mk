# SPDX-License-Identifier: MIT
# The tests of softgpu's kernel side share a header.
$(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_softgpu_drm_*.c)): tests/unit/softgpu_drm.h
