/* SPDX-License-Identifier: MIT */
/* bench-footprint: opens a GPU and makes a queue, no more; prints resident KiB before and after. footprint.sh */
#include "common/tool.h"
#include "rss.h"

int
main(int argc, char **argv)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_context *context;
	struct gpuplan_queue *queue;
	struct gpuplan_error error;
	unsigned long before = rss_kib();

	(void)argc;
	tool_name = "bench-footprint";
	context = tool_open_context(NULL, argv);
	if (gpuplan_queue_create(context, &params, &queue, &error))
		tool_die("%s", error.message);
	printf("rss %lu %lu\n", before, rss_kib());
	gpuplan_queue_destroy(queue);
	gpuplan_context_destroy(context);
	return 0;
}
