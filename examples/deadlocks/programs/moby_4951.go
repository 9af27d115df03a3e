package main

import "sync"

type Devices struct{ sync.Mutex }

type Device struct {
	sync.Mutex
	all *Devices
}

func (d *Device) Unmount(fixed bool) {
	first, second := sync.Locker(d.all), sync.Locker(d)
	if fixed {
		first, second = second, first
	}
	first.Lock()
	defer first.Unlock()
	second.Lock()
	defer second.Unlock()
	d.all.Unlock()
	meanwhile(2)
	d.all.Lock()
}

func (d *Devices) Status(one *Device, fixed bool) {
	if fixed {
		one.Lock()
		defer one.Unlock()
	}
	d.Lock()
	defer d.Unlock()
	if !fixed {
		one.read()
	}
}

func (d *Device) read() { d.Lock(); d.Unlock() }

func init() {
	programs["moby-4951"] = func(fixed bool) {
		all := &Devices{}
		one := &Device{all: all}
		together(func() { one.Unmount(fixed) }, func() { meanwhile(1); all.Status(one, fixed) })
	}
}
