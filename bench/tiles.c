/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.c - see tiles.h. */
#include "bench/tiles.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "workloads/dense/dense.h"

#ifdef HBG_HAVE_OPENBLAS
#include <cblas.h>
#include <lapacke.h>
#endif

enum { LINE = 64 };

/* ---- data ---- */

static bool is_gemm(const struct dag *dag) { return dag->task_count && dag->task[0].op == DAG_GEMM_NN; }

/* in [-1, 1), the same for the same number */
static double uniform(uint64_t number)
{
    uint64_t x = (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 31)) * UINT64_C(0xD6E8FEB86659FD93);
    return (double)(int64_t)(x ^ (x >> 32)) / 9223372036854775808.0;
}

static double *allocate(uint64_t count)
{
    return aligned_alloc(LINE, (count * sizeof(double) + LINE - 1) / LINE * LINE);
}

/* element (i, j) of the matrix whose tiles begin at `first`, n tiles in a row */
static double *element(const struct tiles *t, double *first, uint64_t i, uint64_t j)
{
    uint64_t edge = t->edge, side = t->dag->size.width;
    return &first[(i / edge * side + j / edge) * edge * edge + i % edge * edge + j % edge];
}

static void fill(struct tiles *t)
{
    uint64_t n = (uint64_t)t->dag->size.width * t->edge, all = (uint64_t)t->dag->cell_count * t->edge * t->edge;
    if (is_gemm(t->dag)) {
        memset(t->input, 0, t->written * sizeof *t->input);
        for (uint64_t i = t->written; i < all; i++) t->element[i] = uniform(i);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t j = 0; j <= i; j++) *element(t, t->input, i, j) = *element(t, t->input, j, i) = uniform(i * n + j) + (i == j ? (double)n : 0);
}

/* False: a graph without tile operations. */
static bool describe(struct tiles *t, const struct dag *dag, uint32_t edge)
{
    uint64_t tile = (uint64_t)edge * edge;
    *t = (struct tiles){ .dag = dag, .edge = edge, .written = (uint64_t)dag->size.width * dag->size.width * tile, .file = -1 };
    t->size_bytes = (dag->cell_count * tile + t->written) * sizeof(double);
    return dag->task_count && dag->task[0].op != DAG_NONE && edge;
}

static bool map(struct tiles *t, int file)
{
    void *at = mmap(NULL, t->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return false;
    t->element = at;
    t->input = t->element + (t->size_bytes / sizeof(double) - t->written);
    hbg__dense_prepare();
    return true;
}

bool hbg__tiles_open(struct tiles *t, const struct dag *dag, uint32_t edge)
{
    if (!describe(t, dag, edge)) return false;
    t->file = memfd_create("tiles", MFD_CLOEXEC);
    if (t->file >= 0 && posix_fallocate(t->file, 0, (off_t)t->size_bytes) == 0 && map(t, t->file)) {
        fill(t);
        hbg__tiles_restore(t);
        return true;
    }
    if (t->file >= 0) close(t->file);
    return false;
}

bool hbg__tiles_join(struct tiles *t, const struct dag *dag, uint32_t edge, const char *path)
{
    int file = describe(t, dag, edge) ? open(path, O_RDWR | O_CLOEXEC) : -1;
    bool mapped = file >= 0 && map(t, file);
    if (file >= 0) close(file);
    return mapped;
}

void hbg__tiles_path(const struct tiles *t, char *path, size_t size_bytes) { snprintf(path, size_bytes, "/proc/%d/fd/%d", (int)getpid(), t->file); }

void hbg__tiles_close(struct tiles *t)
{
    if (!t->element) return;
    munmap(t->element, t->size_bytes);
    if (t->file >= 0) close(t->file);
    *t = (struct tiles){ .element = NULL };
}

void hbg__tiles_restore(struct tiles *t) { memcpy(t->element, t->input, t->written * sizeof *t->element); }

/* ---- work ---- */

void hbg__tiles_body(const struct work *work, uint32_t task)
{
    const struct dag_task *t = &work->dag->task[task];
    const uint32_t *read = work->dag->read + t->first_read;
    int64_t edge = work->edge;
    uint64_t tile = (uint64_t)edge * (uint64_t)edge;
    double *own = work->tile + t->cell * tile;
    const double *a = t->read_count > 0 ? work->tile + read[0] * tile : NULL, *b = t->read_count > 1 ? work->tile + read[1] * tile : NULL;
    switch ((enum dag_op)t->op) {
    case DAG_POTRF: (void)hbg__dense_potrf(edge, own, edge); break;         /* a bad pivot shows in the residual */
    case DAG_TRSM: hbg__dense_trsm_right(edge, edge, a, edge, own, edge); break;
    case DAG_SYRK: hbg__dense_syrk(edge, edge, a, edge, own, edge); break;
    case DAG_GEMM_NT: hbg__dense_gemm_nt(edge, edge, edge, a, edge, b, edge, own, edge); break;
    case DAG_GEMM_NN: hbg__dense_gemm_nn(edge, edge, edge, a, edge, b, edge, own, edge); break;
    case DAG_NONE: break;
    }
}

/* ---- what must come out ---- */

/* How a matrix is read: as it stands, its lower triangle, the transpose of that, its lower triangle mirrored. */
enum reading { WHOLE, LOWER, LOWER_TURNED, MIRRORED };

/* y = M x */
static void multiply(const struct tiles *t, double *matrix, enum reading reading, const double *x, double *y, uint64_t n)
{
    memset(y, 0, n * sizeof *y);
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t j = 0; j < (reading == WHOLE ? n : i + 1); j++) {
            double value = *element(t, matrix, i, j);
            if (reading != LOWER_TURNED) y[i] += value * x[j];
            if (reading == LOWER_TURNED || (reading == MIRRORED && i != j)) y[j] += value * x[i];
        }
}

double hbg__tiles_residual(const struct tiles *t)
{
    uint64_t n = (uint64_t)t->dag->size.width * t->edge;
    double *x = allocate(4 * n), *y = x + n, *wanted = y + n, *got = wanted + n, off = 0, all = 0;
    if (!x) return INFINITY;
    for (uint64_t i = 0; i < n; i++) x[i] = uniform(i + 7);
    if (is_gemm(t->dag)) {
        multiply(t, t->element + 2 * t->written, WHOLE, x, y, n);
        multiply(t, t->element + t->written, WHOLE, y, wanted, n);
        multiply(t, t->element, WHOLE, x, got, n);
        for (uint64_t i = 0; i < n; i++) got[i] = -got[i];
    } else {
        multiply(t, t->input, MIRRORED, x, wanted, n);
        multiply(t, t->element, LOWER_TURNED, x, y, n);
        multiply(t, t->element, LOWER, y, got, n);
    }
    for (uint64_t i = 0; i < n; i++) {
        off += (wanted[i] - got[i]) * (wanted[i] - got[i]);
        all += wanted[i] * wanted[i];
    }
    free(x);
    return sqrt(off / all);
}

double hbg__tiles_flops(const char *name, double n)
{
    return strcmp(name, "gemm") == 0 ? 2 * n * n * n : n * n * n / 3;
}

/* ---- without tasks ---- */

#ifdef HBG_HAVE_OPENBLAS
static void run_whole(bool product, int n, double *a, double *b, double *c)
{
    if (product) cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1.0, a, n, b, n, 0.0, c, n);
    else (void)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, c, n);
}

uint64_t hbg__tiles_whole(const char *name, uint32_t n, int threads)
{
    uint64_t size = (uint64_t)n * n, begin;
    bool product = strcmp(name, "gemm") == 0;
    double *a = allocate((product ? 3 : 1) * size), *b = a + size, *c = product ? b + size : a;
    if (!a) return 0;
    for (uint64_t i = 0; i < (product ? 3 : 1) * size; i++) a[i] = uniform(i);
    for (uint64_t i = 0; i < size && !product; i += n + 1) c[i] += n;
    openblas_set_num_threads(threads);
    if (product) run_whole(true, (int)(n < 512 ? n : 512), a, b, c);         /* its threads start, or wake */
    begin = hbg__clock_ns();
    run_whole(product, (int)n, a, b, c);
    uint64_t elapsed = hbg__clock_ns() - begin;
    openblas_set_num_threads(1);
    free(a);
    return elapsed;
}
const char *hbg__tiles_blas(void) { return openblas_get_corename(); }
#else
const char *hbg__tiles_blas(void) { return NULL; }

uint64_t hbg__tiles_whole(const char *name, uint32_t n, int threads)
{
    (void)name, (void)n, (void)threads;
    return 0;
}
#endif
