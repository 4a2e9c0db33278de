package capture

// ReadSource returns the bytes of the file at path as they are, opened as carefully as by ReadFile, so that a source
// can be kept before it is decoded. Every error is an *Error.
func ReadSource(path string) ([]byte, error) {
	data, err := readRegular(path)
	if err != nil {
		err.Name = path
		return nil, err
	}
	return data, nil
}
