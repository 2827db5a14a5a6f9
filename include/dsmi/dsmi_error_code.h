/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions of dsmi_common_interface.h return, and the codes of what a card reports. */
#ifndef NPU_DSMI_ERROR_CODE_H
#define NPU_DSMI_ERROR_CODE_H

#define NPU_DSMI_API __attribute__((visibility("default")))

/* Codes of the driver. */
#define DSMI_OK 0
#define DSMI_ERROR_NO_DEVICE 1      /* no cards are attached */
#define DSMI_ERROR_INVALID_DEVICE 2 /* no card of that id, or it does not answer any more */
#define DSMI_ERROR_INTERNAL 7
#define DSMI_ERROR_PARAMETER 8
#define DSMI_ERROR_NOT_EXIST 11
#define DSMI_ERROR_BUSY 13 /* somebody else has it in use */
#define DSMI_ERROR_NO_RESOURCES 14
#define DSMI_ERROR_TIMEOUT 16
#define DSMI_ERROR_NOT_SUPPORT 0xfffe

/* Codes of alarms and events. */
#define DSMI_CODE_HBM_SINGLE_BIT 0x80E01800u /* assumed */
#define DSMI_CODE_HBM_MULTI_BIT 0x80E01801u  /* "HBM MultiBit ECC" */
#define DSMI_CODE_FAULT 0x80F10000u /* and an abi::FaultCode; in events only; npusim's own */
#define DSMI_CODE_RESET 0x80F20000u /* in events only; npusim's own */
#define DSMI_CODE_TEMPERATURE 0x80F30000u /* clock lowered; npusim's own */

#endif
