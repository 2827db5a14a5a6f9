// SPDX-License-Identifier: GPL-2.0
/*
 * A PCI host bridge behind a PCI function (model/host/ecam_window.hpp): BAR 0 is the configuration
 * space of its hierarchy, BAR 2 and BAR 4 are windows on its memory. The function's vendor-specific
 * capability says where they lie on the other side.
 */
#include <linux/module.h>
#include <linux/pci.h>

#define LAST_BUS 3	/* offsets in the capability */
#define LOW_BASE 4
#define HIGH_BASE 8
#define DOMAIN 0x10000	/* above those that ACPI numbers */

struct ecam_bridge {
	struct pci_sysdata sysdata;
	void __iomem *ecam;
	struct resource buses, low, high;
	struct pci_bus *bus;
};

static void __iomem *ecam_map_bus(struct pci_bus *bus, unsigned int devfn, int where)
{
	struct pci_sysdata *sysdata = bus->sysdata;
	struct ecam_bridge *bridge = container_of(sysdata, struct ecam_bridge, sysdata);

	if (bus->number > bridge->buses.end)
		return NULL;
	return bridge->ecam + (bus->number << 20 | devfn << 12 | where);
}

static struct pci_ops ecam_ops = {
	.map_bus = ecam_map_bus,
	.read = pci_generic_config_read,
	.write = pci_generic_config_write,
};

/* A BAR as a window: its children are the resources of the functions behind it. */
static void add_window(struct list_head *windows, struct resource *window, struct pci_dev *dev,
		       int bar, unsigned long flags, u64 base)
{
	struct resource *parent = &dev->resource[bar];

	window->name = "npu_ecam";
	window->start = parent->start;
	window->end = parent->end;
	window->flags = IORESOURCE_MEM | flags;
	window->parent = parent;
	pci_add_resource_offset(windows, window, window->start - base);
}

static int ecam_probe(struct pci_dev *dev, const struct pci_device_id *id)
{
	int at = pci_find_capability(dev, PCI_CAP_ID_VNDR);
	struct ecam_bridge *bridge;
	u32 low, high, higher;
	LIST_HEAD(windows);
	u8 last_bus;
	int error;

	if (!at)
		return -ENODEV;
	bridge = devm_kzalloc(&dev->dev, sizeof(*bridge), GFP_KERNEL);
	if (!bridge)
		return -ENOMEM;
	error = pcim_enable_device(dev);
	if (error)
		return error;
	bridge->ecam = pcim_iomap(dev, 0, 0);
	if (!bridge->ecam)
		return -ENOMEM;
	pci_read_config_byte(dev, at + LAST_BUS, &last_bus);
	pci_read_config_dword(dev, at + LOW_BASE, &low);
	pci_read_config_dword(dev, at + HIGH_BASE, &high);
	pci_read_config_dword(dev, at + HIGH_BASE + 4, &higher);

	bridge->buses = (struct resource){
		.name = "npu_ecam", .start = 0, .end = last_bus, .flags = IORESOURCE_BUS };
	pci_add_resource(&windows, &bridge->buses);
	add_window(&windows, &bridge->low, dev, 2, 0, low);
	add_window(&windows, &bridge->high, dev, 4, IORESOURCE_MEM_64 | IORESOURCE_PREFETCH,
		   (u64)higher << 32 | high);
	bridge->sysdata.domain = DOMAIN;
	bridge->sysdata.node = dev_to_node(&dev->dev);

	bridge->bus = pci_create_root_bus(&dev->dev, 0, &ecam_ops, &bridge->sysdata, &windows);
	if (!bridge->bus) {
		pci_free_resource_list(&windows);
		return -ENODEV;
	}
	pci_set_drvdata(dev, bridge);
	pci_scan_child_bus(bridge->bus);
	pci_assign_unassigned_bus_resources(bridge->bus);
	pci_bus_add_devices(bridge->bus);
	return 0;
}

static void ecam_remove(struct pci_dev *dev)
{
	struct ecam_bridge *bridge = pci_get_drvdata(dev);

	pci_stop_root_bus(bridge->bus);
	pci_remove_root_bus(bridge->bus);
}

static const struct pci_device_id ecam_ids[] = {
	{ PCI_DEVICE(0x1234, 0xeca0) },
	{}
};
MODULE_DEVICE_TABLE(pci, ecam_ids);

static struct pci_driver ecam_driver = {
	.name = "npu_ecam",
	.id_table = ecam_ids,
	.probe = ecam_probe,
	.remove = ecam_remove,
};
module_pci_driver(ecam_driver);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("PCI host bridge behind npusim's ECAM window");
