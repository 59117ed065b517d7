/* SPDX-License-Identifier: Apache-2.0 */
/* line_code.h - the line of launches of src/platform/cpu/line.c, on a simulated device. Each call is one of the host's. */
#ifndef HBG_PLATFORM_SIM_LINE_CODE_H
#define HBG_PLATFORM_SIM_LINE_CODE_H

#include "platform/platform.h"
#include "platform/sim/sim.h"

struct hbg__sim_line;
struct hbg__ticket;

/* HBG_E_NO_MEMORY leaves nothing. The device is created with hbg__sim_line_on_end() and the line, and then attached. */
enum hbg_status hbg__sim_line_create(struct hbg__memory *memory, struct hbg__sim_line **line);
void hbg__sim_line_destroy(struct hbg__sim_line *line);
void hbg__sim_line_attach(struct hbg__sim_line *line, struct hbg__sim *sim);
void hbg__sim_line_on_end(void *line);

/* HBG_E_NO_MEMORY: it is not launched. */
enum hbg_status hbg__sim_line_add(struct hbg__sim_line *line, struct hbg__ticket *ticket, const struct hbg__launch *launch,
                                  const struct hbg__launch_done *done);
enum hbg__launch_state hbg__sim_line_poll(struct hbg__sim_line *line, struct hbg__ticket *ticket);
bool hbg__sim_line_await(struct hbg__sim_line *line, struct hbg__ticket *ticket, uint64_t timeout_ns);
void hbg__sim_line_drop(struct hbg__sim_line *line, struct hbg__ticket *ticket);
void hbg__sim_line_give_up(struct hbg__sim_line *line);
bool hbg__sim_line_look(struct hbg__sim_line *line, struct hbg__ticket *ticket, bool patient, struct hbg__progress *progress);

#endif /* HBG_PLATFORM_SIM_LINE_CODE_H */
