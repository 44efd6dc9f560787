/** Lets two go on one at a time, each until it asks for its `next` turn; after `end` there is nobody to wait for. */
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
