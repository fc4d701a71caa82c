package normative

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns up to n keys that somebody who wrote key may have meant, the
// likeliest first.
func Nearest(key string, n int) []string {
	type candidate struct {
		key      string
		distance int
	}
	bare := !strings.Contains(key, "/")
	list := make([]candidate, 0, len(all))
	for _, st := range all {
		name := st.Key
		if bare {
			name = st.ID
		}
		list = append(list, candidate{st.Key, Distance(strings.ToLower(key), strings.ToLower(name))})
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var nearest []string
	for _, c := range list[:min(n, len(list))] {
		nearest = append(nearest, c.key)
	}
	return nearest
}

// Distance is the least number of bytes to insert, leave out or replace that
// makes a into b.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
