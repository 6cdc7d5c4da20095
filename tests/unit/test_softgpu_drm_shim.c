/* SPDX-License-Identifier: MIT */
/* Softgpu's descriptors beside the rest of the system: what the kernel, /proc, exec, vfork, sockets and other devices
 * see of them.
 */
#include "softgpu_drm.h"

#include <dirent.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/socket.h>

static int
get_cap(int fd)
{
	return drm(fd, DRM_IOCTL_GET_CAP, &(struct drm_get_cap){ .capability = DRM_CAP_SYNCOBJ });
}

/* A DRM file has display events only, and a render node none: never ready, whoever asks. */
static void
node_events(void **state)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT }, got;
	char text[32];

	(void)state;
	int fd = open(node, O_RDWR | O_CLOEXEC | O_NONBLOCK), ep = epoll_create1(EPOLL_CLOEXEC);
	struct pollfd p = { fd, POLLIN | POLLOUT, 0 };
	assert_int_equal(poll(&p, 1, 20), 0);
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event), 0);
	assert_int_equal(epoll_wait(ep, &got, 1, 20), 0);
	assert_int_equal(read(fd, text, sizeof(text)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(write(fd, text, sizeof(text)), -1);
	assert_int_equal(errno, EINVAL);
	/* Blocking: until a signal comes. */
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	struct sigaction sa = { .sa_handler = on_alarm };
	sigaction(SIGALRM, &sa, NULL);
	ualarm(20000, 0);
	assert_int_equal(read(fd, text, sizeof(text)), -1);
	assert_int_equal(errno, EINTR);
	close(ep);
	close(fd);
}

/* The value of one line of fdinfo, -1 without it. */
static long long
info_value(FILE *f, const char *key)
{
	char line[256];
	long long value = -1;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			value = atoll(line + strlen(key));
	fclose(f);
	return value;
}

static FILE *
info_open(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return fopen(path, "re");
}

static FILE *
info_open_at(int fd)
{
	char name[16];
	int dir = open("/proc/self/fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	snprintf(name, sizeof(name), "%d", fd);
	int file = openat(dir, name, O_RDONLY | O_CLOEXEC);
	close(dir);
	return fdopen(file, "r");
}

static void
fdinfo(void **state)
{
	struct gpu g;
	uint32_t bo;
	uint64_t status, seq;

	(void)state;
	gpu_open(&g);
	assert_int_equal(gem_create(g.fd, 1 << 20, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED, &bo), 0);
	assert_int_equal(info_value(info_open(g.fd), "drm-memory-vram:"), 1024);
	assert_int_equal(info_value(info_open_at(g.fd), "drm-memory-gtt: "), 16);
	assert_int_equal(info_value(info_open(g.fd), "amd-memory-visible-vram:"), 1024);
	assert_int_equal(info_value(info_open(g.fd), "amd-requested-vram:"), 1024);
	assert_int_equal(info_value(info_open(g.fd), "amd-evicted-vram:"), 0);
	assert_int_equal(info_value(info_open(g.fd), "drm-shared-vram:"), 0);
	assert_int_equal(info_value(info_open(g.fd), "pos:"), 0);
	assert_int_equal(info_value(info_open(g.fd), "clockid:"), -1); /* what it is underneath */
	/* Engines appear with their first job and count its time. */
	assert_int_equal(info_value(info_open(g.fd), "drm-engine-compute:"), -1);
	assert_int_equal(submit(&g, IB_GATE, 0, 0, NULL, 0, &seq), 0);
	usleep(20000);
	g.mem[0] = 1;
	assert_int_equal(wait_cs(&g, 0, seq, (uint64_t)FOREVER, &status), 0);
	assert_true(info_value(info_open(g.fd), "drm-engine-compute:") >= 20000000);
	assert_int_equal(info_value(info_open(g.fd), "drm-engine-gfx:"), -1);
	/* A second open is another client; a copy of the descriptor is the same. */
	int other = open(node, O_RDWR | O_CLOEXEC), copy = dup(g.fd);
	long long id = info_value(info_open(g.fd), "drm-client-id:");
	assert_int_equal(info_value(info_open(copy), "drm-client-id:"), id);
	assert_int_not_equal(info_value(info_open(other), "drm-client-id:"), id);
	struct drm_prime_handle out = { bo, DRM_CLOEXEC, -1 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out), 0);
	assert_int_equal(info_value(info_open(g.fd), "drm-shared-vram:"), 1024);
	close(out.fd);
	close(other);
	close(copy);
	gpu_close(&g);
}

static void
link_of(int fd, char text[64])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(path, text, 63);
	text[n > 0 ? n : 0] = '\0';
}

static void
proc_links(void **state)
{
	struct gpu g;
	char text[64], path[64];
	struct stat st;

	(void)state;
	gpu_open(&g);
	link_of(g.fd, text);
	assert_string_equal(text, node);
	int f = sync_file(g.fd, syncobj(g.fd, 1));
	link_of(f, text);
	assert_string_equal(text, "anon_inode:sync_file");
	close(f);
	/* Opened through /proc: another file of the node. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", g.fd);
	int again = open(path, O_RDWR | O_CLOEXEC);
	assert_true(again >= 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISCHR(st.st_mode) && major(st.st_rdev) == 226);
	assert_int_equal(va_op(again, AMDGPU_VA_OP_MAP, g.bo, VA, 0, PAGE), -ENOENT);
	close(again);
	gpu_close(&g);
}

/* Names that begin at a folder's descriptor or at the current folder. */
static void
relative_paths(void **state)
{
	const char *name = strrchr(node, '/') + 1;
	char path[128], sys[32] = { 0 };
	struct stat st;

	(void)state;
	int dri = open("/dev/dri", O_RDONLY | O_DIRECTORY | O_CLOEXEC), dev = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int a = openat(dri, name, O_RDWR | O_CLOEXEC);
	assert_int_equal(get_cap(a), 0);
	snprintf(path, sizeof(path), "dri/../dri/%s", name);
	int b = openat(dev, path, O_RDWR | O_CLOEXEC);
	assert_int_equal(get_cap(b), 0);
	assert_int_equal(fstatat(dri, name, &st, 0), 0);
	assert_true(S_ISCHR(st.st_mode) && major(st.st_rdev) == 226);
	assert_int_equal(faccessat(dev, path, R_OK | W_OK, 0), 0);
	struct statx stx;
	assert_int_equal(statx(dri, name, 0, STATX_BASIC_STATS, &stx), 0);
	assert_int_equal(stx.stx_rdev_major, 226);
	int class = open("/sys/class/drm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/device/vendor", name);
	int vendor = openat(class, path, O_RDONLY | O_CLOEXEC);
	assert_true(read(vendor, sys, sizeof(sys) - 1) > 0);
	assert_string_equal(sys, "0x1002\n");
	close(vendor);
	close(class);
	close(a);
	close(b);
	close(dri);
	close(dev);
}

/* A stream's descriptor is closed inside libc; the number then means what the kernel says. */
static void
stale_numbers(void **state)
{
	struct stat st;

	(void)state;
	FILE *stream = fopen(node, "r+");
	assert_non_null(stream);
	int number = fileno(stream);
	assert_int_equal(get_cap(number), 0);
	assert_int_equal(fclose(stream), 0);
	assert_int_equal(get_cap(number), -EBADF);
	/* Past every wrapper: what came after it is judged by what it is. */
	int fd = open(node, O_RDWR | O_CLOEXEC), pipes[2];
	syscall(SYS_close, fd);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(pipes[0], fd);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(get_cap(pipes[0]), -ENOTTY);
	close(pipes[0]);
	close(pipes[1]);
}

static void
send_fd(int socket, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	char byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	assert_int_equal(sendmsg(socket, &m, 0), 1);
}

static int
receive_fd(int socket)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control) };
	int fd;

	assert_int_equal(recvmsg(socket, &m, MSG_CMSG_CLOEXEC), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

static int
through(int pair[2], int fd)
{
	send_fd(pair[0], fd);
	return receive_fd(pair[1]);
}

/* Sent through a socket they arrive under numbers that no wrapper saw. */
static void
sockets(void **state)
{
	struct gpu g;
	uint32_t bo;
	int pair[2];

	(void)state;
	gpu_open(&g);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	int file = through(pair, g.fd);
	assert_int_equal(va_op(file, AMDGPU_VA_OP_UNMAP, g.bo, VA, 0, 0), 0); /* the same file, handles and all */
	assert_int_equal(va_op(file, AMDGPU_VA_OP_MAP, g.bo, VA, 0, 4 * PAGE), 0);
	close(file);
	assert_int_equal(gem_create(g.fd, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &bo), 0);
	struct drm_prime_handle out = { bo, DRM_CLOEXEC, -1 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out), 0);
	struct drm_prime_handle in = { 0, 0, through(pair, out.fd) };
	void *map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, in.fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	munmap(map, PAGE);
	assert_int_equal(drm(g.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in), 0);
	assert_int_equal(in.handle, bo);
	assert_int_equal(lseek(in.fd, 0, SEEK_END), PAGE);
	close(in.fd);
	close(out.fd);
	uint32_t s = syncobj(g.fd, 1);
	int sf = sync_file(g.fd, s), sf2 = through(pair, sf);
	assert_int_equal(sync_status(sf2, 1), 1);
	struct drm_syncobj_handle h = { s, 0, -1, 0 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h), 0);
	struct drm_syncobj_handle h2 = { 0, 0, through(pair, h.fd), 0 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &h2), 0);
	assert_int_equal(syncobj_wait(g.fd, h2.handle, 0, 0), 0);
	close(sf);
	close(sf2);
	close(h.fd);
	close(h2.fd);
	close(pair[0]);
	close(pair[1]);
	gpu_close(&g);
}

/* The child of a vfork shares our memory and not our descriptors: what it closes is still open here. */
static void
vfork_child_closes(void **state)
{
	struct gpu g;
	int status;
	volatile int fd;

	(void)state;
	gpu_open(&g);
	fd = g.fd;
	pid_t pid = vfork();
	if (pid == 0) {
		dup2(1, fd);
		close(fd);
		close_range(3, ~0u, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(va_op(g.fd, AMDGPU_VA_OP_UNMAP, g.bo, VA, 0, 0), 0);
	gpu_close(&g);
}

/* In a program that was exec'ed with the descriptor open it is a new file of the same node. */
static void
child_inherits(void)
{
	int fd = atoi(getenv("TEST_INHERITED"));
	struct stat st;
	uint32_t bo;
	char text[64];

	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode) && major(st.st_rdev) == 226);
	link_of(fd, text);
	assert_string_equal(text, node);
	assert_int_equal(va_op(fd, AMDGPU_VA_OP_MAP, 1, VA, 0, PAGE), -ENOENT); /* no handles of the parent's */
	assert_int_equal(gem_create(fd, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &bo), 0);
	munmap(gem_map(fd, bo, PAGE), PAGE);
	int copy = dup(fd), own = open(node, O_RDWR | O_CLOEXEC);
	assert_int_equal(va_op(copy, AMDGPU_VA_OP_MAP, bo, VA, 0, PAGE), 0);
	assert_int_equal(va_op(own, AMDGPU_VA_OP_MAP, bo, VA, 0, PAGE), -ENOENT);
	close(own);
	close(copy);
	close(fd);
}

static void
exec_keeps_a_node(void **state)
{
	struct gpu g;
	char text[16];

	gpu_open(&g);
	assert_int_equal(fcntl(g.fd, F_SETFD, 0), 0);
	snprintf(text, sizeof(text), "%d", g.fd);
	setenv("TEST_INHERITED", text, 1);
	run_child(state);
	gpu_close(&g);
}

/* ---- another device on the machine ---- */

static bool
listed(const char *folder, const char *name)
{
	DIR *dir = opendir(folder);
	bool found = false;

	for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
		found |= strcmp(e->d_name, name) == 0;
	if (dir)
		closedir(dir);
	return found;
}

/* Runs under a /dev/dri that has a card0 and a renderD128 already: a terminal stands in for the real nodes. */
static void
child_beside(void)
{
	long long before;
	struct stat st;
	char version[64] = { 0 };

	assert_string_equal(node, "/dev/dri/renderD129");
	assert_string_equal(primary, "/dev/dri/card1");
	assert_true(listed("/dev/dri", "renderD128") && listed("/dev/dri", "renderD129"));
	assert_true(listed("/dev/dri", "card0") && listed("/dev/dri", "card1"));
	int fd = open(node, O_RDWR | O_CLOEXEC), real = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC | O_NOCTTY);
	assert_true(real >= 0 && fd >= 0);
	assert_int_equal(get_cap(fd), 0);
	before = counter("GET_CAP") + counter("VERSION");
	/* The kernel's answers, whatever the call. */
	assert_int_equal(get_cap(real), -ENOTTY);
	assert_int_equal(drm(real, DRM_IOCTL_VERSION, version), -ENOTTY);
	assert_int_equal(isatty(real), 1);
	assert_int_equal(fstat(real, &st), 0);
	assert_int_not_equal(major(st.st_rdev), 226);
	assert_int_equal(counter("GET_CAP") + counter("VERSION"), before);
	/* Numbers change owner both ways. */
	assert_int_equal(dup2(real, fd), fd);
	assert_int_equal(get_cap(fd), -ENOTTY);
	close(fd);
	int ours = open(node, O_RDWR | O_CLOEXEC);
	assert_int_equal(ours, fd);
	assert_int_equal(dup2(ours, real), real);
	assert_int_equal(get_cap(real), 0);
	close(real);
	close(ours);
}

/* In a mount namespace of its own, where /dev is ours to fill. */
static int
beside_setup(void)
{
	if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 77;
	/* Held open on purpose: without its master the terminal cannot be opened. */
	int pty = posix_openpt(O_RDWR | O_NOCTTY), null = open("/dev/null", O_RDWR), terminal = -1;
	if (pty < 0 || null < 0 || unlockpt(pty) || (terminal = open(ptsname(pty), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0)
		return 77;
	if (mount("none", "/dev", "tmpfs", 0, NULL) || mkdir("/dev/dri", 0755))
		return 77;
	/* Bound files and not nodes: those need a privilege that a user's namespace does not give. */
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", terminal);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "/dev/dri/renderD128" : "/dev/dri/card0";
		close(open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
		if (mount(path, name, NULL, MS_BIND, NULL))
			return 77;
	}
	return 0;
}

static void
beside_a_real_node(void **state)
{
	int status;

	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		/* Not under softgpu until the folder is there. */
		unsetenv("SOFTGPU_TREE");
		unsetenv("LD_PRELOAD");
		execl(self, self, "--child", "beside_setup", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* no mount namespaces here */
	assert_int_equal(status, 0);
}

static const struct child children[] = {
	{ "inherits", child_inherits, { NULL } },
	{ "beside", child_beside, { NULL } },
};

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_events), cmocka_unit_test(fdinfo), cmocka_unit_test(proc_links),
		cmocka_unit_test(relative_paths), cmocka_unit_test(stale_numbers), cmocka_unit_test(sockets),
		cmocka_unit_test(vfork_child_closes), { "exec_keeps_a_node", exec_keeps_a_node, NULL, NULL, (void *)(uintptr_t)&children[0] },
		cmocka_unit_test(beside_a_real_node), cmocka_unit_test(nothing_left),
	};
	bool setup = argc == 3 && strcmp(argv[2], "beside_setup") == 0;

	if (setup) {
		int r = beside_setup();
		if (r)
			return r;
		argv[2] = (char *)(uintptr_t)"beside";
	}
	int status = begin(argc, argv, children, COUNT(children));
	return status >= 0 ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
