/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/ttsim: looks into the device between two calls of the host. The words of the
 * tiles that the host uses are read through a TLB window, which has its own words again afterwards;
 * what changed since the look before is recorded with its time. Reading L1 and these registers has
 * no effect in the device. */
#ifndef NOCAP_TTSIM_SAMPLE_H
#define NOCAP_TTSIM_SAMPLE_H

#include "capture/live/ttsim.h"
#include "formats/profile/profile.h"

/* Clocks between two looks, as LIVE_SAMPLE says; 0: none. */
uint64_t sample_every(void);
/* The simulator has just begun; `profile`: whose mailboxes and queues are looked at. */
void sample_begin(struct nocap_capture *capture, const struct ttsim *sim, struct ttsim_board *board,
                  const struct nocap_profile *profile);
/* The host stores there: from now on the tiles are looked at. */
void sample_stored(const struct ttsim_chip *chip, unsigned bar, uint64_t offset, uint32_t size);
void sample_look(uint64_t t);
void sample_end(void);

#endif
