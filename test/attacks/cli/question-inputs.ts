/** Input that may arrive at a question without the intention to answer it. Pieces follow each other as fast as possible. */
export interface HostileInput {
  readonly title: string
  readonly pieces: readonly string[]
}

const ESC = '\u001b'

export const HOSTILE_INPUTS: readonly HostileInput[] = [
  ['a word', 'maybe\r'],
  ['a command of the chat', '/undo\r'],
  ['a letter', 'y'],
  ['the letters of old', 'yansYANS'],
  ['a letter held down', 'y'.repeat(200)],
  ['Enter held down', '\r'.repeat(200)],
  ['line feeds', '\n\n\n'],
  ['a digit and Enter, pasted raw', '1\r'],
  ['a digit and a line feed, pasted raw', '1\n'],
  ['lines, pasted raw', 'first 1\rsecond 2\r\r'],
  ['a digit held down, and Enter', `${'1'.repeat(100)}\r`],
  ['an arrow and Enter in one go', `${ESC}[B\r`],
  ['an arrow in pieces, and Enter', ESC, '[', 'B', '\r'],
  ['a bracketed paste of a digit and Enter', `${ESC}[200~1\r${ESC}[201~`],
  ['a bracketed paste in pieces', `${ESC}[20`, '0~2\r1\r', `${ESC}[2`, '01~', '\r'],
  ['a bracketed paste of escapes', `${ESC}[200~${ESC}[B\r1\r${ESC}${ESC}[201~\r`],
  ['focus changes', `${ESC}[O${ESC}[I${ESC}[O${ESC}[I`],
  ['a click in the first column', `${ESC}[<0;1;5M${ESC}[<0;1;5m`],
  ['a click as old terminals report it', `${ESC}[M 1!`],
  ['a click in pieces', `${ESC}[M`, ' ', '1', '1', '\r'],
  ['a click as urxvt reports it', `${ESC}[32;1;1M${ESC}[35;1;1M`],
  ['a wheel', `${ESC}[<64;1;1M${ESC}[<65;1;1M`.repeat(50)],
  ['keys as kitty sends them', `${ESC}[49u${ESC}[13u${ESC}[121;1u`],
  ['releases of keys as kitty sends them', `${ESC}[49;1:3u${ESC}[13;1:3u${ESC}[27;1:3u`],
  ['keys as xterm may send them', `${ESC}[27;1;49~${ESC}[27;5;13~`],
  ['NULs', '\0\0\0\r\0'],
  ['the colour of the background', `${ESC}]11;rgb:1111/2222/3333\u0007\r`],
  ['a reply that ends with ST', `${ESC}]10;rgb:1/1/1${ESC}\\\r`],
  ['a device status', `${ESC}P1$r0m${ESC}\\${ESC}[?1;2c${ESC}[1;1R`],
  ['keys with Alt', `${ESC}1${ESC}y${ESC}\r${ESC}n`],
  ['control keys', '\u0001\u0002\u0004\u0005\u000e\u0010\u0014\u001a\u001c'],
  ['function keys', `${ESC}OP${ESC}OQ${ESC}[15~${ESC}[[A${ESC}[24~`],
  ['digits that look alike', '１\r１\r٠\r'],
  ['much text', `${'all work and no play '.repeat(500)}1\r`],
  ['tabs', `\t\t${ESC}[Z\r`],
  ['backspace and Enter', '\u007f\u007f\r'],
  ['paging and Enter', `${ESC}[6~${ESC}[5~\r`],
  ['an unfinished sequence, and Enter', `${ESC}[1;`, '\r', '\r'],
].map(([title = '', ...pieces]) => ({ title, pieces }))

/** How a program that takes letters as answers and Enter as yes would be fooled. */
export function foolsSimpleProgram({ pieces }: HostileInput): boolean {
  return /[yan1\r]/i.test(pieces.join(''))
}
