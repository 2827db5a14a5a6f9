// SPDX-License-Identifier: Apache-2.0
// A folder that nobody but its owner can have written into.
#pragma once

#include <sys/stat.h>

#include <string>

#include "kernels/jit/file.hpp"
#include "npu/base/result.hpp"

namespace npu::jit {

// Belongs to this user or to root, and neither group nor others may write it. kPermissionDenied
// else; `name` is for the text.
Status check_owner(const struct stat& about, const std::string& name);

// Opens `path` and checks it; `make`: makes it, and what is missing above, for the user alone. A
// link to a folder is followed here, and nowhere below.
Result<FileDescriptor> open_folder(const std::string& path, bool make);
// The folder `name` in an open one.
Result<FileDescriptor> open_folder_in(const FileDescriptor& parent, const std::string& name,
                                      bool make);

// A file of an open folder, checked as well; a link or anything but a file is kPermissionDenied.
Result<FileDescriptor> open_file_in(const FileDescriptor& parent, const std::string& name);

}  // namespace npu::jit
