package tree

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// The functions that package syscall lacks. golang.org/x/sys/windows has them, but would add a
// thousand others to the program.
var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	createMutex  = kernel32.NewProc("CreateMutexW")
	releaseMutex = kernel32.NewProc("ReleaseMutex")
)

// waitTimeout is the result of a wait for a mutex that another process owns.
const waitTimeout = 0x102

// guard is a mutex named after the directory's identity on its volume: Windows cannot lock a
// directory, and a lock file would remain. The system releases the mutex when the process ends.
type guard struct {
	mutex syscall.Handle
}

// take makes one attempt. Windows mutexes cannot be shared, so checks take turns too. A mutex
// belongs to a thread; a run stays on one thread.
func (g *guard) take(dir *os.File, _ bool) error {
	name, err := guardName(dir)
	if err != nil {
		return err
	}
	created, _, err := createMutex.Call(0, 0, uintptr(unsafe.Pointer(name)))
	mutex := syscall.Handle(created)
	if mutex == 0 && errors.Is(err, syscall.ERROR_ACCESS_DENIED) {
		return errBusy // another user's mutex, and it lives only while that run does
	}
	if mutex == 0 {
		return os.NewSyscallError("CreateMutex", err)
	}
	event, err := syscall.WaitForSingleObject(mutex, 0)
	if event == syscall.WAIT_OBJECT_0 || event == syscall.WAIT_ABANDONED {
		g.mutex = mutex
		return nil
	}
	_ = syscall.CloseHandle(mutex)
	if event == waitTimeout {
		return errBusy
	}
	return os.NewSyscallError("WaitForSingleObject", err)
}

func (g *guard) drop() {
	if g.mutex != 0 {
		_, _, _ = releaseMutex.Call(uintptr(g.mutex))
		_ = syscall.CloseHandle(g.mutex)
		g.mutex = 0
	}
}

func guardName(dir *os.File) (*uint16, error) {
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(dir.Fd()), &info); err != nil {
		return nil, os.NewSyscallError("GetFileInformationByHandle", err)
	}
	return syscall.UTF16PtrFromString(fmt.Sprintf(`Global\dlpackgen-%08x-%08x%08x`,
		info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow))
}
