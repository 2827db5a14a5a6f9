// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/pipe_operation.hpp"

namespace npu::model {

using platform::LocalBuffer;
using platform::PipeOperation;

namespace {

struct Operation {
  PipeOperation operator()(const platform::CopyIn& copy) const {
    return copy.to.buffer == LocalBuffer::kUb ? PipeOperation::kGmToUb : PipeOperation::kGmToL1;
  }
  PipeOperation operator()(const platform::CopyOut& copy) const {
    if (copy.target == platform::CopyOutTarget::kL1) return PipeOperation::kUbToL1;
    return copy.from.buffer == LocalBuffer::kUb ? PipeOperation::kUbToGm : PipeOperation::kL1ToGm;
  }
  PipeOperation operator()(const platform::LoadL0& load) const {
    return load.to.buffer == LocalBuffer::kL0a ? PipeOperation::kL1ToL0a : PipeOperation::kL1ToL0b;
  }
  PipeOperation operator()(const platform::Mmad&) const { return PipeOperation::kMmad; }
  PipeOperation operator()(const platform::Fixpipe& fixpipe) const {
    switch (fixpipe.target) {
      case platform::FixpipeTarget::kL1:
        return PipeOperation::kFixpipeToL1;
      case platform::FixpipeTarget::kUb:
        return PipeOperation::kFixpipeToUb;
      default:
        return PipeOperation::kFixpipeToGm;
    }
  }
  PipeOperation operator()(const HeldFunction&) const { return PipeOperation::kVectorFunction; }
  PipeOperation operator()(const platform::Vector& vector) const {
    return platform::operation_of(vector.op);
  }
};

}  // namespace

PipeOperation operation_of(const Instruction& instruction) {
  return std::visit(Operation{}, instruction);
}

}  // namespace npu::model
