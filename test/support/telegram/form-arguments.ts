/** The arguments of a call, from JSON or a form; in a form, values other than text are JSON, and `attach://` names a file. */
export function argumentsOf(type: string, body: Buffer): Readonly<Record<string, unknown>> {
  if (body.length === 0) return {}
  const [, boundary] = /^multipart\/form-data; boundary=(.+)$/.exec(type) ?? []
  if (boundary === undefined) return JSON.parse(body.toString('utf8')) as Record<string, unknown>
  const parts = partsOf(body, `--${boundary}`)
  const args: Record<string, unknown> = {}
  for (const [name, { bytes, isFile }] of parts) {
    if (isFile) continue
    const text = bytes.toString('utf8')
    const [, attached = ''] = /^attach:\/\/(.+)$/.exec(text) ?? []
    const isJson = /^[[{]/.test(text) && name !== 'caption'
    args[name] = parts.get(attached)?.bytes ?? (isJson ? JSON.parse(text) : text)
  }
  return args
}

interface Part {
  readonly bytes: Buffer
  readonly isFile: boolean
}

function partsOf(body: Buffer, boundary: string): ReadonlyMap<string, Part> {
  const parts = new Map<string, Part>()
  for (let from = body.indexOf(boundary); from !== -1;) {
    const to = body.indexOf(`\r\n${boundary}`, from)
    if (to === -1) break
    const start = body.indexOf('\r\n\r\n', from)
    const head = body.toString('utf8', from, start)
    const [, name = ''] = /name="([^"]*)"/.exec(head) ?? []
    parts.set(name, { bytes: body.subarray(start + 4, to), isFile: head.includes('filename=') })
    from = to + 2
  }
  return parts
}
