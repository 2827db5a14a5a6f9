// SPDX-License-Identifier: Apache-2.0
// Programs of the card's cores (abi/kernel_image.hpp): loaded from the bytes that lie in device
// memory, once for each digest, and kept until the card is reset. A program's own variables would
// be shared by all cores that run it: programs have none that change.
#pragma once

#include <array>
#include <map>
#include <memory>

#include "model/core/counted_programs.hpp"
#include "model/core/program_files.hpp"
#include "npu/abi/kernel_image.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

struct LoadedProgram {
  void* entry = nullptr;                    // null: there is none
  const std::uint64_t* executed = nullptr;  // its count of instructions; null: it does not count
};

class ProgramLoader {
 public:
  // Programs of one kind; `entry` is the name of their entry point. Those with a twin in `counted`
  // are run by that. `counted` and `files` outlive this.
  ProgramLoader(abi::ImageKind kind, const char* entry, const CountedPrograms& counted,
                const ProgramFiles& files);
  ~ProgramLoader();
  ProgramLoader(const ProgramLoader&) = delete;
  ProgramLoader& operator=(const ProgramLoader&) = delete;

  // A header of this kind, with sizes in range.
  bool accepts(const abi::ImageHeader& header) const;
  // The program with the header's digest; none: load it first.
  LoadedProgram find(const abi::ImageHeader& header) const;
  // `object` has header.size bytes. None: the digest is not theirs, or they are no shared object
  // with the entry point.
  LoadedProgram load(const abi::ImageHeader& header, const void* object);
  // What an address is in.
  struct Place {
    ConstByteSpan file;        // with its sections; empty: they are not known
    std::uint64_t offset = 0;  // from the begin of what is loaded
  };
  Place place_of(const void* address) const;
  // All have to be loaded again. Those that still run may do so to their end.
  void forget();

 private:
  using Digest = std::array<std::uint8_t, 32>;
  struct Library;

  const abi::ImageKind kind_;
  const char* const entry_;
  const CountedPrograms& counted_;
  const ProgramFiles& files_;
  std::map<Digest, std::unique_ptr<Library>> loaded_;
};

}  // namespace npu::model
