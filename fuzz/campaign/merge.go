package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
)

// Merge saves the findings of several campaigns in the folder of one; of equal
// ones the smallest stays. It returns how many there are. A file that is no
// finding is an error, and nothing else is lost by it.
func Merge(dir string, from []string) (int, error) {
	var broken error
	for _, other := range from {
		list, err := os.ReadDir(FindingsDir(other))
		if err != nil {
			return 0, fmt.Errorf("there are no findings in %s", other)
		}
		for _, entry := range list {
			if !strings.HasSuffix(entry.Name(), finding.Extension) || strings.HasPrefix(entry.Name(), ".") {
				continue
			}
			path := filepath.Join(FindingsDir(other), entry.Name())
			f, err := finding.Load(path)
			if err == nil {
				_, err = f.Save(FindingsDir(dir))
			}
			if err != nil && broken == nil {
				broken = fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(FindingsDir(dir), "*"+finding.Extension))
	if err != nil {
		return 0, err
	}
	return len(files), broken
}
