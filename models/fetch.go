package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// fetch asks once for what is missing. True: the server says that this is all.
func (d *download) fetch(ctx context.Context) (bool, error) {
	if d.size > 0 && d.n == d.size {
		return true, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errRefused, err)
	}
	req.Header.Set("User-Agent", "blockworld-voice")
	req.Header.Set("Accept-Encoding", "identity") // byte offsets must be the file's
	if d.n > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(d.n, 10)+"-")
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	total, err := d.accept(resp)
	if err != nil {
		return false, err
	}
	if total > maxDownload || d.size > 0 && total > 0 && total != d.size {
		return false, fmt.Errorf("%w: the server offers %d bytes, %s has %d", errRefused, total, d.name, d.size)
	}
	limit := int64(maxDownload)
	if d.size > 0 {
		limit = d.size
	}
	if total > 0 {
		limit = total
	}
	if free, ok := freeSpace(d.f.Name()); ok && total > 0 && free < total-d.n {
		return false, fmt.Errorf("%w: %d bytes are needed and %d are free on the disk", errDisk, total-d.n, free)
	}
	err = d.receive(resp.Body, limit, cancel)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errStalled) {
		err = cause
	}
	if err != nil {
		return false, err
	}
	if total > 0 && d.n < total {
		return false, fmt.Errorf("the connection ended after %d of %d bytes", d.n, total)
	}
	return true, nil
}

var errStalled = fmt.Errorf("nothing came for %v", stallAfter)

// receive appends the body to the file.
func (d *download) receive(body io.Reader, limit int64, cancel context.CancelCauseFunc) error {
	watchdog := time.AfterFunc(stallAfter, func() { cancel(errStalled) })
	defer watchdog.Stop()
	buf := make([]byte, 256<<10)
	for {
		n, err := body.Read(buf)
		if int64(n) > limit-d.n {
			if err := d.restart(); err != nil {
				return err
			}
			return fmt.Errorf("%w: more than %d bytes came", errRefused, limit)
		}
		if n > 0 {
			watchdog.Reset(stallAfter)
			if _, err := d.f.Write(buf[:n]); err != nil {
				return fmt.Errorf("%w: %w", errDisk, err)
			}
			d.h.Write(buf[:n])
			d.n += int64(n)
			if d.progress != nil {
				d.progress(d.n, max(d.size, limitOr0(limit)))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// limitOr0 is the size to show: none when only the general bound is known.
func limitOr0(limit int64) int64 {
	if limit == maxDownload {
		return 0
	}
	return limit
}

// accept judges the head of an answer and returns the size of the whole file, 0 when the
// server does not say. A server that does not know ranges sends all from the start.
func (d *download) accept(resp *http.Response) (int64, error) {
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		return max(resp.ContentLength, 0), d.restart()
	case code == http.StatusPartialContent:
		first, total, ok := contentRange(resp.Header.Get("Content-Range"))
		if !ok || first != d.n {
			if err := d.restart(); err != nil {
				return 0, err
			}
			return 0, fmt.Errorf("the server sent the range %q instead of the one from the byte asked for", resp.Header.Get("Content-Range"))
		}
		return total, nil
	case code == http.StatusRequestedRangeNotSatisfiable:
		// Either all is there and only its end was never heard of, or the part is of another file.
		if _, total, ok := contentRange(resp.Header.Get("Content-Range")); ok && total == d.n {
			return total, nil
		}
		if err := d.restart(); err != nil {
			return 0, err
		}
		return 0, errors.New("the server has no such range")
	case code == http.StatusTooManyRequests, code >= 500:
		return 0, fmt.Errorf("the server answers %s", resp.Status)
	}
	return 0, fmt.Errorf("%w: the server answers %s", errRefused, resp.Status)
}

// contentRange reads "bytes 5-9/10" and "bytes */10".
func contentRange(s string) (first, total int64, ok bool) {
	span, all, found := strings.Cut(strings.TrimPrefix(s, "bytes "), "/")
	if !found || !strings.HasPrefix(s, "bytes ") {
		return 0, 0, false
	}
	total, err := strconv.ParseInt(all, 10, 64)
	if all == "*" {
		total, err = 0, nil
	}
	if err != nil || total < 0 {
		return 0, 0, false
	}
	if span == "*" {
		return 0, total, true
	}
	from, _, found := strings.Cut(span, "-")
	first, err = strconv.ParseInt(from, 10, 64)
	return first, total, found && err == nil
}

// freeSpace is what the disk of a file can still take.
func freeSpace(path string) (int64, bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
