/** Alternates two tasks, each until it awaits `next`; after `end` the other continues alone. */
export function takingTurns() {
  let ended = false
  let wake: (() => void) | undefined
  return {
    next: async () => {
      if (ended) return
      const wakeOther = wake
      await new Promise<void>((resolve) => {
        wake = resolve
        wakeOther?.()
      })
    },
    end: () => {
      ended = true
      wake?.()
    },
  }
}
