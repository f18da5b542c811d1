"""simrt: record one realtime voice call, replay it in virtual time, judge it by what the caller heard."""
