import process from 'node:process'

/** Standard input and output as a channel for messages of another program. */
export interface MessageStreams {
  /** Calls `piece` for each piece of input, and `end` once: at its end, or when the reader of the output is gone. */
  listen(listener: MessageListener): void
  /** Stops reading, until the returned function is called. */
  hold(): () => void
  /** Resolves when the text was passed to the system; false if its reader is gone. */
  write(text: string): Promise<boolean>
  /** Stops reading, and gives the output back. */
  release(): void
}

export interface MessageListener {
  readonly piece: (bytes: Buffer) => void
  readonly end: () => void
}

/**
 * Takes the standard streams of this process. Until they are released, whatever else is printed on standard output goes to
 * standard error, so that nothing but messages reaches the other program.
 */
export function takeMessageStreams(): MessageStreams {
  const { stdin, stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  let listener: MessageListener | undefined
  let isGone = false
  let holds = 0
  const piece = (bytes: Buffer) => listener?.piece(bytes)
  const end = () => {
    const ending = listener
    listener = undefined
    ending?.end()
  }
  const gone = () => {
    isGone = true
    end()
  }
  // Never removed: an error that comes late is not a defect either.
  stdout.on('error', gone).on('close', gone)
  return {
    listen: (added) => {
      listener = added
      stdin.on('data', piece).on('end', end).on('close', end).on('error', end)
      if (isGone) end()
    },
    hold: () => {
      holds += 1
      stdin.pause()
      return () => {
        holds -= 1
        if (holds === 0) stdin.resume()
      }
    },
    write: (text) =>
      new Promise((resolve) => {
        if (isGone) resolve(false)
        else write(text, (error) => resolve(error === undefined || error === null))
      }),
    release: () => {
      listener = undefined
      stdin.off('data', piece)
      stdin.pause()
      stdout.write = write
    },
  }
}
