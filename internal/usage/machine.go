package usage

import "golang.org/x/sys/unix"

// FreeDisk is the room left on the disk of a directory, in bytes; 0 if it is not a local directory.
func FreeDisk(dir string) int64 {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return 0
	}
	return int64(fs.Bavail) * fs.Bsize
}

// MachineMemory is the memory of this machine, in bytes; 0 if it is not known.
func MachineMemory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// MemoryWithin is what a process may use, in bytes: the bound where there is one, else the memory of this machine; 0 if
// that is not known.
func MemoryWithin(bound int64) int64 {
	if bound > 0 {
		return bound
	}
	return MachineMemory()
}
