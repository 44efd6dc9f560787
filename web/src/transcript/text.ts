/** Text from outside as people may see it: what would turn the direction of the text around it becomes visible. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${code}`
  })
}

// oxlint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

const SHORT = 20_000

/** The first part of a long text, so that no line of any length holds up the page. */
export function cut(text: string, most = SHORT): { readonly shown: string; readonly rest: number } {
  if (text.length <= most) return { shown: text, rest: 0 }
  return { shown: text.slice(0, most).toWellFormed(), rest: text.length - most }
}

/** Links of other schemes are shown as text. */
export function isSafeLink(href: string): boolean {
  return /^(?:https?:\/\/|mailto:)[^\s]/i.test(href)
}
