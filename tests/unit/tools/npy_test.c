/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of .npy files: what numpy writes is taken, and no file can make it read outside its bytes. Every truncation and
 * every change of a byte of good files is tried, and seeded random ones; each file lies in memory of exactly its size, so
 * that a sanitizer sees the first byte too far.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "support/devices.h"
#include "tools/npy.h"

static const char *const headers[] = {
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", "{'shape': (), 'fortran_order': False, 'descr': '|V5'}",
    "{ \"descr\" : \"<i8\" ,\"fortran_order\":False,'shape': ( 12L , ) , }", "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 0, 3), }",
    "{'descr': '<u2', 'fortran_order': False, 'shape': (1, 2, 3, 4, 5), }",
};
enum { HEADERS = sizeof headers / sizeof *headers, FILE_MOST = 512 };
static const uint64_t data_bytes[HEADERS] = { 48, 5, 96, 0, 240 };

/* a file with the header, padded as numpy pads it; returns its size */
static size_t make(unsigned char *file, const char *header, int major, uint64_t data)
{
    size_t front = major == 1 ? 10 : 12, length = strlen(header), size = (front + length + 1 + 63) / 64 * 64;

    memcpy(file, "\x93NUMPY", 6);
    memset(file + 6, 0, 6);
    file[6] = (unsigned char)major;
    file[8] = (unsigned char)(size - front);
    file[9] = (unsigned char)((size - front) >> 8);
    memset(file + front, ' ', size - front);
    memcpy(file + front, header, length);
    file[size - 1] = '\n';
    memset(file + size, 0x5a, data);
    return size + data;
}

/* Parses a copy of its own size. What is taken lies within the file; what is refused is refused with words. */
static bool parse(const unsigned char *file, size_t size, struct npy *npy)
{
    unsigned char *copy = malloc(size ? size : 1);
    char text[160] = "";
    bool good;

    assert_non_null(copy);
    memcpy(copy, file, size);
    good = hbg__npy_parse(copy, size, size, npy, text, sizeof text);
    if (good) {
        assert_true(npy->data_at + npy->data_bytes <= size);
        assert_in_range(npy->shape.rank, 0, HBG_RANK_MAX);
        for (int i = 0; i < npy->shape.rank; i++)
            assert_true(npy->shape.dim[i] >= 0);
        for (int dtype = HBG_BOOL; dtype <= HBG_F64; dtype++) {
            int64_t elements = 1;
            for (int i = 0; i < npy->shape.rank; i++)
                assert_false(hbg__npy_holds(npy, dtype) && __builtin_mul_overflow(elements, npy->shape.dim[i], &elements));
            if (hbg__npy_holds(npy, dtype))
                assert_int_equal(npy->data_bytes, elements * hbg_dtype_size(dtype));
        }
    } else {
        assert_true(strlen(text) > 8);
        for (const char *c = text; *c; c++)
            assert_in_range(*c, ' ', '~');
    }
    free(copy);
    return good;
}

static void good_files(void **state)
{
    static const enum hbg_dtype dtype[HEADERS] = { HBG_F32, HBG_RECORD(5), HBG_I64, HBG_BOOL, HBG_BF16 };
    static const int rank[HEADERS] = { 2, 0, 1, 3, 5 };
    unsigned char file[FILE_MOST];
    struct npy npy;
    (void)state;

    for (int i = 0; i < HEADERS; i++)
        for (int major = 1; major <= 2; major++) {
            assert_true(parse(file, make(file, headers[i], major, data_bytes[i]), &npy));
            assert_int_equal(npy.data_bytes, data_bytes[i]);
            assert_int_equal(npy.data_at % 64, 0);
            assert_int_equal(npy.shape.rank, rank[i]);
            assert_true(hbg__npy_holds(&npy, dtype[i]));
            assert_false(hbg__npy_holds(&npy, HBG_F64));
        }
}

static void every_truncation_is_refused(void **state)
{
    unsigned char file[FILE_MOST];
    struct npy npy;
    (void)state;

    for (int i = 0; i < HEADERS; i++)
        for (int major = 1; major <= 2; major++) {
            size_t size = make(file, headers[i], major, data_bytes[i]);
            for (size_t n = 0; n < size; n++)
                assert_false(parse(file, n, &npy));
        }
}

static void every_changed_byte(void **state)
{
    unsigned char file[FILE_MOST];
    struct npy npy;
    (void)state;

    for (int i = 0; i < HEADERS; i++)
        for (int major = 1; major <= 2; major++) {
            size_t size = make(file, headers[i], major, data_bytes[i]);
            for (size_t at = 0; at < size; at++) {
                unsigned char was = file[at];
                for (int value = 0; value < 256; value++) {
                    file[at] = (unsigned char)value;
                    bool good = parse(file, size, &npy);
                    assert_true(at >= 8 || value == was || !good || (at == 6 && major == 1));
                }
                file[at] = was;
            }
        }
}

/* several bytes at once, mostly characters that a header is made of */
static void random_changes(void **state)
{
    static const char alphabet[] = "{}()[]:,'\" \n0123456789LTrueFals<>|=fiubVc\\\x80\xff";
    uint64_t seed = test_seed(1), good = 0;
    int rounds = test_scaled(200000);
    struct hbg__rng rng;
    (void)state;

    printf("seed %llu\n", (unsigned long long)seed);
    hbg__rng_seed(&rng, seed);
    for (int round = 0; round < rounds; round++) {
        unsigned char file[FILE_MOST];
        struct npy npy;
        int i = (int)hbg__rng_between(&rng, 0, HEADERS - 1), changes = (int)hbg__rng_between(&rng, 1, 4);
        size_t size = make(file, headers[i], (int)hbg__rng_between(&rng, 1, 2), data_bytes[i]);
        for (int c = 0; c < changes; c++)
            file[hbg__rng_between(&rng, 8, (int64_t)size - 1)] = (unsigned char)alphabet[hbg__rng_between(&rng, 0, sizeof alphabet - 2)];
        good += parse(file, size, &npy);
    }
    assert_true(good > 0 && good < (uint64_t)rounds);
}

static void refusals(void **state)
{
    static const struct { const char *header, *words; } cases[] = {
        { "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }", "is in Fortran order" },
        { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 4), }", "holds a structured type" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1), }", "has 6 dimensions; at most 5" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,), }", "has a shape that is larger than the address space" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "has a shape that is larger than the address space" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4), }", "has a header that is no dictionary" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (12), }", "has a header that is no dictionary" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': [3, 4], }", "has a header that is no dictionary" },
        { "{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4), }", "has a header that is no dictionary" },
        { "{'descr': '<f4', 'shape': (3, 4), }", "has a header that is no dictionary" },
        { "{'descr': '<f4', 'descr': '<f4', 'shape': (3, 4), }", "has a header that is no dictionary" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'more': 1}", "has a header that is no dictionary" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } x", "has a header that is no dictionary" },
        { "{'descr': 'f4', 'fortran_order': False, 'shape': (3, 4), }", "has a header that is no dictionary" },
        { "", "has a header that is no dictionary" },
    };
    unsigned char file[FILE_MOST];
    struct npy npy;
    char text[160];
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = make(file, cases[i].header, 1, 48);
        assert_false(hbg__npy_parse(file, size, size, &npy, text, sizeof text));
        assert_memory_equal(text, cases[i].words, strlen(cases[i].words));
    }
    make(file, headers[0], 2, 0);
    file[10] = 2;
    assert_false(hbg__npy_parse(file, 128, 128, &npy, text, sizeof text));
    assert_memory_equal(text, "has a header of 131188 bytes", 28);
}

/* what is written is read back, for every type and rank */
static void written_headers(void **state)
{
    (void)state;
    for (int dtype = HBG_BOOL; dtype <= HBG_F64 + 1; dtype++)
        for (int rank = 0; rank <= HBG_RANK_MAX; rank++) {
            enum hbg_dtype type = dtype > HBG_F64 ? HBG_RECORD(4095) : (enum hbg_dtype)dtype;
            struct hbg_shape shape = { { 1, INT64_C(1) << 50, 3, 0, 7 }, rank };
            unsigned char header[NPY_WRITTEN_MOST];
            size_t size = hbg__npy_header(type, &shape, header);
            struct npy npy;
            char text[160];
            assert_int_equal(size % 64, 0);
            assert_true(size <= sizeof header && header[size - 1] == '\n');
            (void)hbg__npy_parse(header, size, rank == 2 || rank == 3 ? (uint64_t)1 << 62 : size, &npy, text, sizeof text);
            assert_true(hbg__npy_holds(&npy, type));
            assert_int_equal(npy.shape.rank, rank);
            assert_memory_equal(npy.shape.dim, shape.dim, (size_t)rank * sizeof *shape.dim);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files), cmocka_unit_test(every_truncation_is_refused), cmocka_unit_test(every_changed_byte),
        cmocka_unit_test(random_changes), cmocka_unit_test(refusals), cmocka_unit_test(written_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
