/* SPDX-License-Identifier: MIT */
#include "gpuplan.h"

uint32_t
gpuplan_dtype_bytes(enum gpuplan_dtype dtype)
{
	switch (dtype) {
	case GPUPLAN_U8:
	case GPUPLAN_I8:
		return 1;
	case GPUPLAN_U16:
	case GPUPLAN_I16:
	case GPUPLAN_F16:
	case GPUPLAN_BF16:
		return 2;
	case GPUPLAN_U32:
	case GPUPLAN_I32:
	case GPUPLAN_F32:
		return 4;
	case GPUPLAN_U64:
	case GPUPLAN_I64:
	case GPUPLAN_F64:
		return 8;
	}
	return 0;
}
