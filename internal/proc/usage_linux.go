package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of times in /proc: 1/100 s on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// Usage reads what the process and its children take at this moment.
func (p *Process) Usage() (Usage, error) {
	var u Usage
	all, err := os.ReadDir("/proc")
	if err != nil {
		return u, fmt.Errorf("proc: %w", err)
	}
	group, found := strconv.Itoa(p.PID()), false
	for _, entry := range all {
		if name := entry.Name(); name[0] >= '1' && name[0] <= '9' {
			found = u.add(filepath.Join("/proc", name), group) || found
		}
	}
	if !found {
		return u, fmt.Errorf("proc: %s is not there any more", p.command.Args[0])
	}
	return u, nil
}

// add adds one process, if it is of the group.
func (u *Usage) add(dir, group string) bool {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return false
	}
	// The name in brackets may hold anything; what follows is numbers.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 18 || fields[2] != group || fields[0] == "Z" {
		return false
	}
	number := func(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n }
	u.CPU += time.Duration(number(fields[11])+number(fields[12])) * clockTick
	u.Threads += int(number(fields[17]))
	if threads, err := filepath.Glob(filepath.Join(dir, "task", "*", "schedstat")); err == nil {
		for _, path := range threads {
			if text, err := os.ReadFile(path); err == nil {
				if f := strings.Fields(string(text)); len(f) > 1 {
					u.Wanted += time.Duration(number(f[0]) + number(f[1]))
				}
			}
		}
	}
	if statm, err := os.ReadFile(filepath.Join(dir, "statm")); err == nil {
		if f := strings.Fields(string(statm)); len(f) > 2 {
			u.Memory += (number(f[1]) - number(f[2])) * int64(os.Getpagesize())
		}
	}
	if open, err := os.ReadDir(filepath.Join(dir, "fd")); err == nil {
		u.Descriptors += len(open)
	}
	return true
}
