// SPDX-License-Identifier: Apache-2.0
// The module npusim._npusim: what the package is made of. Its users see the package's classes,
// which have the documentation; nothing here is for them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "apps/python/native/card.hpp"
#include "apps/python/native/card_work.hpp"
#include "apps/python/native/checked_self.hpp"
#include "apps/python/native/graph.hpp"
#include "apps/python/native/host_runtime.hpp"
#include "apps/python/native/managed.hpp"
#include "apps/python/native/network.hpp"
#include "apps/python/native/operators.hpp"
#include "apps/python/native/session.hpp"
#include "apps/python/native/source_compiler.hpp"
#include "apps/python/native/stream.hpp"

namespace npu::python {
namespace {

namespace py = pybind11;

void bind_session(py::module_& module) {
  py::class_<Session, std::shared_ptr<Session>>(module, "Session")
      .def(py::init<const std::string&, const std::vector<std::string>&>())
      .def("close", on(&Session::close))
      .def("nothing",
           [](const std::shared_ptr<Session>& self) {
             object_of(self).call([](platform::Platform&) {});
           })
      .def("report", on(&Session::report))
      .def("record", on(&Session::record))
      .def("profile", on(&Session::profile))
      .def("begin_trace", on(&Session::begin_trace))
      .def("end_trace", on(&Session::end_trace))
      .def("write_page", on(&Session::write_page))
      .def("open", &Card::open, py::arg("index"))
      .def_property_readonly("closed", on(&Session::closed))
      .def_property_readonly("ended", on(&Session::ended))
      .def_property_readonly("now", on(&Session::now))
      .def_property_readonly("cards", on(&Session::cards))
      .def_property_readonly("inside_ns", on(&Session::inside_ns))
      .def_property_readonly("calls", on(&Session::calls));
}

void bind_card(py::module_& module) {
  py::class_<Card, std::shared_ptr<Card>>(module, "Card")
      .def("close", on(&Card::close))
      .def("info", on(&Card::info))
      .def("allocate", on(&Card::allocate))
      .def("free", on(&Card::free))
      .def("write", on(&Card::write))
      .def("read", on(&Card::read))
      .def("set_firmware", on(&Card::set_firmware))
      .def("register_kernel", on(&Card::register_kernel))
      .def("unregister_kernel", on(&Card::unregister_kernel))
      .def("run",
           [](const std::shared_ptr<Card>& self, const std::shared_ptr<driver::TaskGraph>& graph,
              unsigned block_dim, unsigned threads, std::string handshake, bool single_issue,
              bool profiling, unsigned pmu_group, bool dump_tensors, std::int64_t watchdog_ps,
              std::int64_t timeout_ps) {
             return run_graph(object_of(self), object_of(graph),
                              {block_dim, threads, std::move(handshake), single_issue, profiling,
                               pmu_group, dump_tensors, watchdog_ps, timeout_ps});
           })
      .def("last_run", [](const std::shared_ptr<Card>& self) { return last_run(object_of(self)); })
      .def_property_readonly("closed", on(&Card::closed));
}

void bind_managed(py::module_& module) {
  py::class_<ManagedCards, std::shared_ptr<ManagedCards>>(module, "ManagedCards")
      .def(py::init(&ManagedCards::open))
      .def_static("before_fork", &ManagedCards::before_fork)
      .def_static("in_child", &ManagedCards::in_child);
  py::class_<Managed, std::shared_ptr<Managed>> memory(module, "Managed", py::buffer_protocol());
  memory.def(py::init(&Managed::allocate), py::arg().none(false), py::arg())
      .def("prefetch", on(&Managed::prefetch))
      .def("to_host", on(&Managed::to_host))
      .def("advise", on(&Managed::advise))
      .def("location", on(&Managed::location))
      .def_property_readonly("address", on(&Managed::address))
      .def_buffer([](Managed& self) {
        return py::buffer_info(
            static_cast<std::uint8_t*>(driver::ProcessView::pointer({self.address()})),
            static_cast<py::ssize_t>(self.size()));
      });
  check_buffers(memory);
}

void bind_streams(py::module_& module) {
  py::class_<HostMemory, std::shared_ptr<HostMemory>> memory(module, "HostMemory",
                                                             py::buffer_protocol());
  memory.def(py::init(&HostMemory::allocate), py::arg().none(false), py::arg())
      .def_property_readonly("bus",
                             [](const std::shared_ptr<HostMemory>& self) {
                               return object_of(self).memory().bus().value;
                             })
      .def_buffer([](HostMemory& self) {
        const auto bytes = self.memory().cpu();
        return py::buffer_info(reinterpret_cast<std::uint8_t*>(bytes.data),
                               static_cast<py::ssize_t>(bytes.size));
      });
  check_buffers(memory);
  py::class_<Event, std::shared_ptr<Event>>(module, "Event")
      .def(py::init<std::shared_ptr<Card>>(), py::arg().none(false))
      .def_property_readonly(
          "id", [](const std::shared_ptr<Event>& self) { return object_of(self).id().value; });
  py::class_<CopyTicket, std::shared_ptr<CopyTicket>>(module, "Ticket")
      .def("done", on(&CopyTicket::done))
      .def("wait", on(&CopyTicket::wait))
      .def_property_readonly("submitted", on(&CopyTicket::submitted));
  py::class_<Stream, std::shared_ptr<Stream>>(module, "Stream")
      .def(py::init<std::shared_ptr<Card>, bool>(), py::arg().none(false), py::arg())
      .def("submit",
           [](const std::shared_ptr<Stream>& self, const std::string& opcode, std::uint64_t source,
              std::uint64_t destination, Bytes size, const std::shared_ptr<Event>& event) {
             return object_of(self).submit(opcode, source, destination, size, event.get());
           })
      .def("close", on(&Stream::close))
      .def_property_readonly("id", on(&Stream::id));
}

}  // namespace
}  // namespace npu::python

PYBIND11_MODULE(_npusim, module) {
  npu::python::check_base();
  npu::python::translate_failures();
  npu::python::bind_session(module);
  npu::python::bind_card(module);
  npu::python::bind_managed(module);
  npu::python::bind_streams(module);
  npu::python::bind_graph(module);
  npu::python::bind_host_runtime(module);
  npu::python::bind_card_work(module);
  npu::python::bind_operators(module);
  npu::python::bind_network(module);
  npu::python::bind_source_compiler(module);
}
