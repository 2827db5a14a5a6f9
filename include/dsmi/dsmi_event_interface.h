/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a card: part of dsmi_common_interface.h, which includes it and says what its functions
   have in common. */
#ifndef NPU_DSMI_EVENT_INTERFACE_H
#define NPU_DSMI_EVENT_INTERFACE_H

#include "dsmi/dsmi_error_code.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DMS_MAX_EVENT_NAME_LENGTH 256
#define DMS_MAX_EVENT_DATA_LENGTH 32
#define DMS_MAX_EVENT_RESV_LENGTH 32
#define DSMI_EVENT_FILTER_FLAG_EVENT_ID (1UL << 0)
#define DSMI_EVENT_FILTER_FLAG_SERVERITY (1UL << 1)
#define DSMI_EVENT_FILTER_FLAG_NODE_TYPE (1UL << 2)
struct dsmi_event_filter {
  unsigned long long filter_flag; /* which of these an event must have; 0: all events */
  unsigned int event_id;
  unsigned char severity; /* at least */
  unsigned char node_type;
  unsigned char resv[DMS_MAX_EVENT_RESV_LENGTH];
};
#define DSMI_NODE_TYPE_SOC 0x40 /* assumed */
#define DSMI_NODE_TYPE_HBM 0x41 /* assumed */
struct dms_fault_event {
  unsigned int event_id; /* DSMI_CODE_* */
  unsigned short deviceid;
  unsigned char node_type, node_id;
  unsigned char sub_node_type, sub_node_id;
  unsigned char severity;               /* 0 notice, 1 minor, 2 major, 3 critical */
  unsigned char assertion;              /* 1: it has come; 0: it has ended, however often it came;
                                           2: it has happened, and does not stay */
  int event_serial_num;                 /* of the card's log, from 1 */
  int notify_serial_num;                /* of this reader's events, from 1 */
  unsigned long long alarm_raised_time; /* ns of DEVICE_TIME */
  char event_name[DMS_MAX_EVENT_NAME_LENGTH];
  char additional_info[DMS_MAX_EVENT_DATA_LENGTH]; /* the address, "0x..." */
  unsigned char os_id, resv_1[1];
  unsigned short node_type_ex, sub_node_type_ex;
  unsigned char resv_2[2];
  unsigned char resv[DMS_MAX_EVENT_RESV_LENGTH - 8];
};
enum dsmi_event_type { DMS_FAULT_EVENT = 0, DMS_SEC_EVENT = 1 };
struct dsmi_event {
  enum dsmi_event_type type;
  union {
    struct dms_fault_event dms_event;
  } event_t;
};
typedef void (*fault_event_callback)(struct dsmi_event* event);
/* Calls `handler` for each event from now on, in a task that looks every millisecond, until
   npu_dsmi_detach(). One subscription per device; the last counts. `handler` may call anything here
   but npu_dsmi_detach() and the attach functions. */
NPU_DSMI_API int dsmi_subscribe_fault_event(int device_id, struct dsmi_event_filter filter,
                                            fault_event_callback handler);
/* The oldest event that this has not given yet, of those since the cards were attached. `timeout`:
   milliseconds, 0 or more. DSMI_ERROR_TIMEOUT: there was none. */
NPU_DSMI_API int dsmi_read_fault_event(int device_id, int timeout, struct dsmi_event_filter filter,
                                       struct dsmi_event* event);

#ifdef __cplusplus
}
#endif

#endif
