/* SPDX-License-Identifier: Apache-2.0 */
/* The whole runtime below the ACL. */
#ifndef NPUSIM_RT_H
#define NPUSIM_RT_H

#include <runtime/base.h>
#include <runtime/context.h>
#include <runtime/dev.h>
#include <runtime/event.h>
#include <runtime/kernel.h>
#include <runtime/mem.h>
#include <runtime/mem_virtual.h>
#include <runtime/rt_model.h>
#include <runtime/stream.h>

#endif
