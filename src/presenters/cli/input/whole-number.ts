import { failed, ok, type Result } from '../../../model/errors.ts'

/** The value of an option that is a whole number from 1 to `most`; `undefined` if the option is absent. */
export function wholeNumber(
  text: string | undefined,
  flag: string,
  most: number,
): Result<number | undefined> {
  if (text === undefined) return ok(undefined)
  if (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= most) return ok(Number(text))
  return failed('invalid_args', `${flag} must be a whole number from 1 to ${most}.`, { flag })
}
