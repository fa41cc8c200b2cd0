package tree

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// guard is a mutex named after the directory's identity on its volume: Windows
// cannot lock a directory, and a lock file would stay behind. The system lets
// go when the process ends.
type guard struct {
	mutex windows.Handle
}

// take makes one attempt. Windows mutexes know no sharing, so that checks take
// turns as well; they belong to a thread, which a run never leaves.
func (g *guard) take(dir *os.File, _ bool) error {
	name, err := guardName(dir)
	if err != nil {
		return err
	}
	mutex, err := windows.CreateMutex(nil, false, name)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return errBusy // another user's mutex, and it lives only while that run does
	}
	if err != nil && !errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return os.NewSyscallError("CreateMutex", err)
	}
	event, err := windows.WaitForSingleObject(mutex, 0)
	if event == windows.WAIT_OBJECT_0 || event == windows.WAIT_ABANDONED {
		g.mutex = mutex
		return nil
	}
	windows.CloseHandle(mutex)
	if event == uint32(windows.WAIT_TIMEOUT) {
		return errBusy
	}
	return os.NewSyscallError("WaitForSingleObject", err)
}

func (g *guard) drop() {
	if g.mutex != 0 {
		windows.ReleaseMutex(g.mutex)
		windows.CloseHandle(g.mutex)
		g.mutex = 0
	}
}

func guardName(dir *os.File) (*uint16, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(dir.Fd()), &info); err != nil {
		return nil, os.NewSyscallError("GetFileInformationByHandle", err)
	}
	return windows.UTF16PtrFromString(fmt.Sprintf(`Global\dlpackgen-%08x-%08x%08x`,
		info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow))
}
