package horizon

import (
	"context"
	"time"
)

// ask sends a query and projects its answer. A reply of the wrong shape closes the connection.
func ask[T any](ctx context.Context, c *Client, r Request, wait time.Duration, project func(Reply) (T, error)) (T, error) {
	var none T
	rep, err := c.Ask(ctx, r, wait)
	if err != nil {
		return none, err
	}
	v, err := project(rep)
	if err != nil {
		return none, c.Distrust(err)
	}
	return v, nil
}

// Hello asks who answers.
func (c *Client) Hello(ctx context.Context, wait time.Duration) (HelloInfo, error) {
	return ask(ctx, c, Hello{}, wait, Reply.Hello)
}

// State asks for the player's state.
func (c *Client) State(ctx context.Context, wait time.Duration) (PlayerState, error) {
	return ask(ctx, c, State{}, wait, Reply.State)
}

// Status asks for the client's status.
func (c *Client) Status(ctx context.Context, wait time.Duration) (ClientStatus, error) {
	return ask(ctx, c, Status{}, wait, Reply.Status)
}

// Inventory asks for the slots.
func (c *Client) Inventory(ctx context.Context, wait time.Duration) (Bag, error) {
	return ask(ctx, c, Inventory{}, wait, Reply.Inventory)
}

// Block asks for one cell. The answer must be about that cell.
func (c *Client) Block(ctx context.Context, at Block, wait time.Duration) (Cell, error) {
	return ask(ctx, c, at, wait, func(r Reply) (Cell, error) {
		cell, err := r.Block()
		if err == nil && cell.Pos != [3]int32{at.X, at.Y, at.Z} {
			err = malformed("pos is another cell than the one asked for")
		}
		return cell, err
	})
}

// Events asks for what happened after a sequence number.
func (c *Client) Events(ctx context.Context, since uint64, wait time.Duration) (EventList, error) {
	return ask(ctx, c, Events{Since: since}, wait, Reply.Events)
}

// Stop ends the active action.
func (c *Client) Stop(ctx context.Context, wait time.Duration) error {
	_, err := ask(ctx, c, Stop{}, wait, func(r Reply) (struct{}, error) { return struct{}{}, r.Done() })
	return err
}
