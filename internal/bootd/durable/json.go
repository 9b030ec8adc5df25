package durable

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// ReadJSON reads a file that WriteJSON wrote into what v points to; false: there's none.
func ReadJSON(path string, v any) (bool, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, json.Unmarshal(b, v)
}

// WriteJSON is Write of v as JSON.
func WriteJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Write(path, b)
}
