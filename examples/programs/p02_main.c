/* SPDX-License-Identifier: Apache-2.0 */
/* p02_main.c - factors a positive definite matrix with p02_cholesky.c and checks |A - L L'| / |A|; then one that is not. */
#include <hbg/hbg.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum hbg_status cholesky(struct hbg_device *device, double *a, int64_t n, int64_t ld, int64_t tile, struct hbg_result *result);

enum { N = 200, LD = 208, TILE = 48 };
static double a[N][LD], factor[N][LD];

static double residual(void)
{
    double difference = 0, size = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k <= j; k++) sum += factor[i][k] * factor[j][k];
            difference += (sum - a[i][j]) * (sum - a[i][j]);
            size += a[i][j] * a[i][j];
        }
    }
    return sqrt(difference / size);
}

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < LD; j++) factor[i][j] = a[i][j] = exp(-0.01 * (i - j) * (i - j)) + (i == j);
    }
}

int main(void)
{
    struct hbg_device *device = NULL;
    struct hbg_result result = HBG_OPTIONS(result);
    enum hbg_status s = hbg_device_open("cpu:workers=2", NULL, &device);
    fill();
    if (!s) s = cholesky(device, &factor[0][0], N, LD, TILE, &result);
    double error = s ? 1 : residual();
    printf("%s: %d tasks, residual %.1e\n", hbg_status_text(s), (int)result.tasks, error);
    int wrong = s != HBG_OK || error > 1e-12;
    for (int i = 0; i < N; i++) {
        for (int j = N; j < LD; j++) wrong |= factor[i][j] != a[i][j];          /* what lies between the rows is nobody's */
    }
    fill();
    factor[150][150] = -1;                                                      /* in tile 3, at its pivot 150 - 3 * 48 + 1 */
    if (!wrong) s = cholesky(device, &factor[0][0], N, LD, TILE, &result);
    printf("%s: %s\n", hbg_status_name(s), result.error.text);
    wrong |= s != HBG_E_KERNEL || result.error.code != 2 || result.error.detail != 7;
    return hbg_device_close(device) || wrong;
}
