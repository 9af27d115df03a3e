package main

import "sync"

type Plugin struct {
	sync.Mutex
	activated sync.Cond
	manifest  bool
	failed    bool
}

func (p *Plugin) Activate() {
	meanwhile(1)
	p.Lock()
	p.failed = true // the plugin does not answer
	p.Unlock()
	p.activated.Broadcast()
}

func (p *Plugin) WaitActive(fixed bool) {
	p.Lock()
	for !p.manifest && !(fixed && p.failed) {
		p.activated.Wait()
	}
	p.Unlock()
}

func init() {
	programs["moby-30408"] = func(fixed bool) {
		p := &Plugin{}
		p.activated.L = p
		together(p.Activate, func() { p.WaitActive(fixed) })
	}
}
