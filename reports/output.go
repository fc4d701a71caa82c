package reports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// CheckOutput tells before a run whether a report can be written to path: its
// folder exists and is writable, and path is no folder itself. No folder is
// made.
func CheckOutput(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reports: cannot write %s: there is no folder %s", path, dir)
	case err != nil:
		return fmt.Errorf("reports: cannot write %s: %w", path, plainError(err))
	case !info.IsDir():
		return fmt.Errorf("reports: cannot write %s: %s is no folder", path, dir)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("reports: cannot write %s: it is a folder", path)
	} else if err == nil && !info.Mode().IsRegular() {
		return nil // a device or pipe, such as /dev/stdout: written in place
	}
	probe, err := os.CreateTemp(dir, ".mqttcheck-*")
	if err != nil {
		return fmt.Errorf("reports: cannot write %s: the folder %s is not writable: %w", path, dir, plainError(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// WriteFile writes a report to path: beside it first, then renamed, so that
// path never holds half of one.
func WriteFile(path string, render func(io.Writer) error) (err error) {
	if info, statErr := os.Stat(path); statErr == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return writeInPlace(path, render)
	}
	// Not CreateTemp: its files are readable by their owner only.
	beside := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%x", filepath.Base(path), rand.Uint32()))
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("reports: cannot write %s: %w", path, plainError(err))
	}
	defer func() {
		if err != nil {
			os.Remove(beside)
			err = fmt.Errorf("reports: cannot write %s: %w", path, plainError(err))
		}
	}()
	b := bufio.NewWriter(f)
	if err := errors.Join(render(b), b.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(beside, path)
}

// writeInPlace writes to what cannot be replaced: a pipe or a device.
func writeInPlace(path string, render func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("reports: cannot write %s: %w", path, plainError(err))
	}
	b := bufio.NewWriter(f)
	if err := errors.Join(render(b), b.Flush(), f.Close()); err != nil {
		return fmt.Errorf("reports: cannot write %s: %w", path, plainError(err))
	}
	return nil
}

// plainError takes the name of a temporary file out of an error.
func plainError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
