/** For example `83.1 % of the window (warning)`. Rounded down, so that it never shows a limit that was not reached. Pure. */
export function windowShare({
  tier,
  ratio,
}: {
  readonly tier: string
  readonly ratio: number
}): string {
  const share = `${(Math.floor(ratio * 1000) / 10).toFixed(1)} % of the window`
  return tier === 'none' ? share : `${share} (${tier})`
}
