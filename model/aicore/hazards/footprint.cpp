// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/hazards/footprint.hpp"

#include "model/aicore/instruction_checks.hpp"
#include "model/aicore/vector_shape.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

Space space_of(platform::LocalBuffer buffer) {
  return static_cast<Space>(buffer);
}

class Footprint {
 public:
  Footprint(bool cube, bool coupled, std::vector<Extent>& extents)
      : cube_(cube), coupled_(coupled), extents_(extents) {}

  void operator()(const platform::CopyIn& copy) const {
    read(Space::kGlobal, copy.from, copy.rows, copy.row_bytes, copy.from_pitch);
    const Bytes element = copy.fractals ? 32 : copy.element;
    const auto to = space_of(copy.to.buffer);
    if (element == 0) return write(to, copy.to.offset, copy.rows, copy.row_bytes, copy.to_pitch);
    write(to, copy.to.offset, copy.row_bytes / element, copy.rows * element, copy.to_pitch);
  }
  void operator()(const platform::CopyOut& copy) const {
    const bool local = copy.target == platform::CopyOutTarget::kL1;
    read(space_of(copy.from.buffer), copy.from.offset, copy.rows, copy.row_bytes, copy.from_pitch);
    write(local ? Space::kL1 : Space::kGlobal, copy.to, copy.rows, copy.row_bytes, copy.to_pitch,
          local && !coupled_ ? Whose::kCube : Whose::kOwn);
  }
  void operator()(const platform::LoadL0& load) const {
    if (load.fractals) {
      read(Space::kL1, load.from, load.rows, kFractalBytes, load.from_pitch);
      return write(space_of(load.to.buffer), load.to.offset, load.rows, kFractalBytes,
                   kFractalBytes);
    }
    const Bytes element = bytes_of(load.type);
    read(Space::kL1, load.from, load.rows, load.columns * element, load.from_pitch);
    const std::uint32_t rows = load.transpose ? load.columns : load.rows;
    const std::uint32_t columns = load.transpose ? load.rows : load.columns;
    write(space_of(load.to.buffer), load.to.offset, 1, rows * l0_pitch(columns, load.type), 0);
  }
  void operator()(const platform::Mmad& mmad) const {
    const MmadBytes size = bytes_of(mmad);
    read(Space::kL0a, mmad.a, 1, size.a, 0);
    read(Space::kL0b, mmad.b, 1, size.b, 0);
    if (!mmad.accumulate && mmad.start == platform::MmadStart::kBias) {
      read(Space::kL1, mmad.bias, 1, mmad.n * bytes_of(mmad.bias_type), 0);
    }
    if (mmad.accumulate) read(Space::kL0c, mmad.c, 1, size.c, 0);
    write(Space::kL0c, mmad.c, 1, size.c, 0);
  }
  void operator()(const platform::Fixpipe& fixpipe) const {
    if (fixpipe.column_pitch == 0) {
      read(Space::kL0c, fixpipe.from, 1, fixpipe.m * l0c_pitch(fixpipe.n), 0);
    } else {
      read(Space::kL0c, fixpipe.from, ceil_div(fixpipe.n, 16), fixpipe.m * Bytes{64},
           fixpipe.column_pitch);
    }
    if (fixpipe.scaling == platform::FixpipeScale::kColumns) {
      read(Space::kL1, fixpipe.scales, 1, fixpipe.n * sizeof(float), 0);
    }
    const Bytes row = fixpipe.n * bytes_of(fixpipe.to_type);
    switch (fixpipe.target) {
      case platform::FixpipeTarget::kL1:
        return write(Space::kL1, fixpipe.to, fixpipe.m, row, fixpipe.to_pitch);
      case platform::FixpipeTarget::kUb:
        return write(Space::kUb, fixpipe.to, fixpipe.m, row, fixpipe.to_pitch,
                     coupled_ || !cube_         ? Whose::kOwn
                     : fixpipe.vector_core == 0 ? Whose::kVector0
                                                : Whose::kVector1);
      case platform::FixpipeTarget::kGlobal:
        return write(Space::kGlobal, fixpipe.to, fixpipe.m, row, fixpipe.to_pitch);
    }
  }
  void operator()(const platform::Vector& vector) const {
    const VectorShape shape = shape_of(vector);
    const auto rows = [&](std::uint32_t at, Bytes row, Bytes pitch) {
      if (row != 0) read(Space::kUb, at, vector.rows, row, pitch == 0 ? row : pitch);
    };
    rows(vector.a, shape.a_row, vector.a_pitch);
    rows(vector.b, shape.b_row, vector.b_pitch);
    rows(vector.mask, shape.mask_row, vector.mask_pitch);
    write(Space::kUb, vector.to, shape.results, shape.to_row,
          vector.to_pitch == 0 ? shape.to_row : vector.to_pitch);
  }
  void operator()(const HeldFunction& held) const {
    const FunctionBody& body = *held.body;
    for (const auto& load : body.loads) {
      const auto extent = extent_of(load, body.count, body.rows);
      read(Space::kUb, extent.offset, extent.rows, extent.row, extent.pitch);
    }
    for (const auto& store : body.stores) {
      const auto extent = extent_of(store, body.count, body.rows);
      write(Space::kUb, extent.offset, extent.rows, extent.row, extent.pitch);
    }
  }

 private:
  void add(Extent extent) const {
    if (extent.rows <= 1 || extent.pitch == extent.row) {
      extent.row *= extent.rows;
      extent.rows = 1;
    }
    extents_.push_back(extent);
  }
  void read(Space space, std::uint64_t first, Bytes rows, Bytes row, Bytes pitch) const {
    add({space, false, first, rows, row, pitch});
  }
  void write(Space space, std::uint64_t first, Bytes rows, Bytes row, Bytes pitch,
             Whose whose = Whose::kOwn) const {
    add({space, true, first, rows, row, pitch, whose});
  }

  const bool cube_, coupled_;
  std::vector<Extent>& extents_;
};

}  // namespace

void footprint_of(const Instruction& instruction, bool cube, bool coupled,
                  std::vector<Extent>& extents) {
  extents.clear();
  std::visit(Footprint(cube, coupled, extents), instruction);
}

}  // namespace npu::model
