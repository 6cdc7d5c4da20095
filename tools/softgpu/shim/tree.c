/* SPDX-License-Identifier: MIT */
/* tree.c: makes and removes the stand-in for /dev/dri and /sys (facts: what libdrm, libudev and Mesa look up). */
#define _GNU_SOURCE
#include "tree.h"

#include "../hw/hw.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRM_MAJOR 226
#define PCI_ROOT "sys/devices/pci0000:00"
#define DESCRIPTION "softgpu" /* file in the root: minors and slot */

/* Relative to the tree's root. Every maker does nothing after the first failure, so that a list of them reads plain. */
struct maker {
	const struct sg_tree *tree;
	int error; /* -errno of the first failure */
};

static __attribute__((format(printf, 3, 0))) void
make_path(const struct maker *m, char *to, const char *format, va_list args)
{
	int n = snprintf(to, PATH_MAX, "%s/", m->tree->root);

	vsnprintf(to + n, PATH_MAX - (size_t)n, format, args);
}

static __attribute__((format(printf, 2, 3))) void
make_dir(struct maker *m, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	make_path(m, path, format, args);
	va_end(args);
	/* Parents too. */
	for (char *at = path + strlen(m->tree->root) + 1; !m->error && *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			m->error = -errno;
		*at = '/';
	}
	if (!m->error && mkdir(path, 0755) && errno != EEXIST)
		m->error = -errno;
}

static void
write_file(struct maker *m, const char *path, const void *data, size_t bytes)
{
	if (m->error)
		return;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		m->error = -errno;
	if (fd >= 0)
		close(fd);
}

static __attribute__((format(printf, 3, 4))) void
make_file(struct maker *m, const char *text, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	make_path(m, path, format, args);
	va_end(args);
	write_file(m, path, text, strlen(text));
}

static __attribute__((format(printf, 3, 4))) void
make_link(struct maker *m, const char *target, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	make_path(m, path, format, args);
	va_end(args);
	if (!m->error && symlink(target, path) && errno != EEXIST)
		m->error = -errno;
}

/* ---- what is there already ---- */

/* The real nodes of a folder get links, so that listing ours shows them too. */
static void
link_real(struct maker *m, const char *folder)
{
	char target[PATH_MAX];
	DIR *dir = opendir(folder);

	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(target, sizeof(target), "%s/%s", folder, e->d_name);
		make_link(m, target, "%s/%s", folder + 1, e->d_name);
	}
	closedir(dir);
}

static bool
exists(const char *format, unsigned number)
{
	char path[64];

	snprintf(path, sizeof(path), format, number);
	return access(path, F_OK) == 0;
}

static void
choose_names(struct sg_tree *tree)
{
	char path[64];

	tree->card = 0;
	while (tree->card < 63 &&
	       (exists("/dev/dri/card%u", tree->card) || exists("/sys/class/drm/card%u", tree->card)))
		tree->card++;
	tree->render = 128;
	while (tree->render < 191 &&
	       (exists("/dev/dri/renderD%u", tree->render) || exists("/sys/class/drm/renderD%u", tree->render)))
		tree->render++;
	for (unsigned bus = 3; bus < 256; bus++) {
		snprintf(tree->slot, sizeof(tree->slot), "0000:%02x:00.0", bus);
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", tree->slot);
		if (access(path, F_OK) != 0)
			return;
	}
}

/* ---- the device ---- */

/* The first 64 bytes of PCI configuration space: a display controller (3.0). */
static void
make_pci_config(struct maker *m, const struct sg_profile *p)
{
	unsigned char c[64] = { 0 };
	char path[PATH_MAX];

	c[0] = p->pci_vendor & 0xff;
	c[1] = p->pci_vendor >> 8 & 0xff;
	c[2] = p->pci_device & 0xff;
	c[3] = p->pci_device >> 8 & 0xff;
	c[4] = 7; /* I/O, memory, bus master */
	c[8] = p->pci_revision & 0xff;
	c[11] = 3;
	c[44] = p->pci_subvendor & 0xff;
	c[45] = p->pci_subvendor >> 8 & 0xff;
	c[46] = p->pci_subdevice & 0xff;
	c[47] = p->pci_subdevice >> 8 & 0xff;
	snprintf(path, sizeof(path), "%s/" PCI_ROOT "/%s/config", m->tree->root, m->tree->slot);
	write_file(m, path, c, sizeof(c));
}

static void
make_number(struct maker *m, const char *name, const char *format, unsigned value)
{
	char text[32];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), format, value);
#pragma GCC diagnostic pop
	make_file(m, text, PCI_ROOT "/%s/%s", m->tree->slot, name);
}

static void
make_pci(struct maker *m, const struct sg_profile *p)
{
	const char *slot = m->tree->slot;
	char text[512], target[64];

	make_dir(m, PCI_ROOT "/%s/drm", slot);
	make_number(m, "vendor", "0x%04x\n", p->pci_vendor);
	make_number(m, "device", "0x%04x\n", p->pci_device);
	make_number(m, "revision", "0x%02x\n", p->pci_revision);
	make_number(m, "subsystem_vendor", "0x%04x\n", p->pci_subvendor);
	make_number(m, "subsystem_device", "0x%04x\n", p->pci_subdevice);
	make_number(m, "class", "0x%06x\n", 0x030000);
	make_number(m, "boot_vga", "%u\n", 0);
	make_number(m, "numa_node", "%u\n", 0);
	make_number(m, "softgpu_stats", "", 0); /* its text is made when it is opened, drm/report.c */
	snprintf(text, sizeof(text),
		 "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\nPCI_SLOT_NAME=%s\n",
		 p->pci_vendor, p->pci_device, p->pci_subvendor, p->pci_subdevice, slot);
	make_file(m, text, PCI_ROOT "/%s/uevent", slot);
	make_pci_config(m, p);

	make_dir(m, "sys/bus/pci/devices");
	make_dir(m, "sys/bus/pci/drivers/amdgpu");
	make_link(m, "../../../bus/pci", PCI_ROOT "/%s/subsystem", slot);
	make_link(m, "../../../bus/pci/drivers/amdgpu", PCI_ROOT "/%s/driver", slot);
	snprintf(target, sizeof(target), "../../../devices/pci0000:00/%s", slot);
	make_link(m, target, "sys/bus/pci/devices/%s", slot);
}

static void
make_node(struct maker *m, const char *name, unsigned minor)
{
	const char *slot = m->tree->slot;
	char text[128], target[128];

	make_file(m, "", "dev/dri/%s", name);
	make_dir(m, PCI_ROOT "/%s/drm/%s", slot, name);
	snprintf(text, sizeof(text), "MAJOR=%u\nMINOR=%u\nDEVNAME=dri/%s\nDEVTYPE=drm_minor\n", DRM_MAJOR, minor, name);
	make_file(m, text, PCI_ROOT "/%s/drm/%s/uevent", slot, name);
	snprintf(text, sizeof(text), "%u:%u\n", DRM_MAJOR, minor);
	make_file(m, text, PCI_ROOT "/%s/drm/%s/dev", slot, name);
	snprintf(target, sizeof(target), "../../../%s", slot); /* not "../..": IGT reads the address off the link */
	make_link(m, target, PCI_ROOT "/%s/drm/%s/device", slot, name);
	make_link(m, "../../../../../class/drm", PCI_ROOT "/%s/drm/%s/subsystem", slot, name);
	snprintf(target, sizeof(target), "../../devices/pci0000:00/%s/drm/%s", slot, name);
	make_link(m, target, "sys/dev/char/%u:%u", DRM_MAJOR, minor);
	make_link(m, target, "sys/class/drm/%s", name);
}

static void
make_all(struct maker *m, const struct sg_profile *profile, unsigned lockup_ms, bool recovery)
{
	const struct sg_tree *t = m->tree;
	char text[128], name[32];

	make_dir(m, "dev/dri");
	make_dir(m, "sys/dev/char");
	make_dir(m, "sys/class/drm");
	make_pci(m, profile);
	snprintf(name, sizeof(name), "card%u", t->card);
	make_node(m, name, t->card);
	snprintf(name, sizeof(name), "renderD%u", t->render);
	make_node(m, name, t->render);
	make_file(m, "drm 1.1.0 20060810\n", "sys/class/drm/version");
	link_real(m, "/dev/dri");
	link_real(m, "/sys/class/drm");
	make_dir(m, "sys/module/amdgpu/parameters");
	/* gfx, compute, sdma, video, in ms; what gpuplan takes its "in doubt" time from */
	snprintf(text, sizeof(text), "%u,%u,%u,%u\n", lockup_ms, lockup_ms, lockup_ms, lockup_ms);
	make_file(m, text, "sys/module/amdgpu/parameters/lockup_timeout");
	make_file(m, recovery ? "-1\n" : "0\n", "sys/module/amdgpu/parameters/gpu_recovery");
	snprintf(text, sizeof(text), "%u %u %s\n", t->card, t->render, t->slot);
	make_file(m, text, DESCRIPTION);
}

/* Which resets there are, as 6.13 and later tell it, and the file in debugfs that asks for one. */
static void
make_reset(struct maker *m, const char *recovery)
{
	const struct sg_tree *t = m->tree;
	const char *kinds = strcmp(recovery, "soft") == 0 ? "soft full\n" :
			    strcmp(recovery, "ring") == 0 ? "queue full\n" : strcmp(recovery, "none") == 0 ? "\n" : "full\n";

	make_file(m, kinds, PCI_ROOT "/%s/gfx_reset_mask", t->slot);
	make_file(m, kinds, PCI_ROOT "/%s/compute_reset_mask", t->slot);
	make_file(m, kinds, PCI_ROOT "/%s/sdma_reset_mask", t->slot);
	make_dir(m, "sys/kernel/debug/dri/%u", t->card);
	make_dir(m, "sys/kernel/debug/dri/%u", t->render);
	make_file(m, "", "sys/kernel/debug/dri/%u/amdgpu_gpu_recover", t->card);
	make_file(m, "", "sys/kernel/debug/dri/%u/amdgpu_gpu_recover", t->render);
}

/* ---- life ---- */

int
sg_tree_create(struct sg_tree *tree, const struct sg_profile *profile, unsigned lockup_ms, const char *recovery)
{
	const char *tmp = getenv("TMPDIR");
	char pattern[200], real[PATH_MAX];
	struct maker m = { .tree = tree };

	snprintf(pattern, sizeof(pattern), "%s/softgpu-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(pattern))
		return -errno;
	if (!realpath(pattern, real) || strlen(real) >= sizeof(tree->root)) {
		rmdir(pattern);
		return -ENAMETOOLONG;
	}
	strcpy(tree->root, real);
	chmod(tree->root, 0755); /* programs that drop privileges read it too */
	choose_names(tree);
	make_all(&m, profile, lockup_ms, strcmp(recovery, "none") != 0);
	make_reset(&m, recovery);
	if (m.error)
		sg_tree_remove(tree);
	return m.error;
}

bool
sg_tree_load(struct sg_tree *tree, const char *root)
{
	char path[PATH_MAX];

	if (strlen(root) >= sizeof(tree->root))
		return false;
	strcpy(tree->root, root);
	snprintf(path, sizeof(path), "%s/" DESCRIPTION, root);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	int n = fscanf(file, "%u %u %15s", &tree->card, &tree->render, tree->slot);
	fclose(file);
	return n == 3;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

void
sg_tree_remove(const struct sg_tree *tree)
{
	/* Links are not followed: real sysfs stands behind some of them. */
	if (strstr(tree->root, "/softgpu-"))
		nftw(tree->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
