// Package reports holds the result of a run and everything that is made of it.
//
// [Build] turns what the specs reported into a [Result]. A Result is plain
// data, written as result.json and read back by [Read]; the text, JUnit,
// Markdown and HTML reports are pure functions of it, so that any of them can
// be made again, later and elsewhere.
//
// What a broker sent is hostile text in every format: see [Visible].
package reports
