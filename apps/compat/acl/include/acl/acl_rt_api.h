/* SPDX-License-Identifier: Apache-2.0 */
/* The name by which C++ programs include the runtime. */
#ifndef NPUSIM_ACL_RT_API_H
#define NPUSIM_ACL_RT_API_H

#include <acl/acl_rt.h>

#endif
