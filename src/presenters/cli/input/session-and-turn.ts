/**
 * Splits arguments in which the Session is optional: a lone Turn number belongs to the latest Session. It is shorter
 * than the end of any id.
 */
export function sessionAndTurn(
  first: string | undefined,
  second: string | undefined,
): { readonly session: string | undefined; readonly turn: string | undefined } {
  const isTurn = first !== undefined && second === undefined && LONE_TURN.test(first)
  return isTurn ? { session: undefined, turn: first } : { session: first, turn: second }
}

const LONE_TURN = /^(?:[1-9]\d{0,2}|trn_.*)$/
