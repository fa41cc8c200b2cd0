package main

import (
	"fmt"
	"io"
	"path/filepath"
)

// gibLimit is the maximum time in milliseconds to send 1 GiB between two processes without touching
// its pages.
const gibLimit = 1.0

// benchShm compares the shm backend with the bare system calls: memfd, a message and mmap, without
// validation of the received data.
func benchShm(out io.Writer, dir string, rounds int) ([]goal, error) {
	d := deviceBench{program: filepath.Join(dir, "measure")}
	if err := compileDevices("gcc", "-std=gnu11", "-O2", "-Ibackends/shm", "-o", d.program,
		"bench/testdata/shm/measure.c",
		"backends/shm/dlpackgen_shm.c", "-lpthread"); err != nil {
		return nil, err
	}
	bare, ours, err := d.columns(fmt.Sprint(rounds * 20))
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "shm: 1 GiB to another process and an answer, %d times in turn: %s\n", rounds*20,
		spread("bare memfd, sendmsg and mmap", bare))
	fmt.Fprintf(out, "shm: the same by send and receive: %s; %.2f of the bare calls\n", spread("", ours),
		middle(ours)/middle(bare))
	return []goal{{name: "shm.gib", measured: middle(ours) / 1e6, limit: gibLimit, unit: " ms"}}, nil
}
