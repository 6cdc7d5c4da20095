// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) writeonly buffer Out { uint count[]; };

void main()
{
	uvec2 at = gl_GlobalInvocationID.xy;
	precise double cx = double(at.x) / 64.0lf - 1.5lf, cy = double(at.y) / 64.0lf - 1.0lf, x = 0.0lf, y = 0.0lf;
	uint n = 0;

	for (; n < 200; n++) {
		precise double xx = x * x, yy = y * y, xy = x * y;

		if (xx + yy > 4.0lf)
			break;
		x = xx - yy + cx;
		y = xy + xy + cy;
	}
	count[at.y * 128 + at.x] = n;
}
