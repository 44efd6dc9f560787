const KEY = 'hawser.token'

/** Of this tab only: another tab gets its own link. */
export function storedToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined
}

export function storeToken(token: string): void {
  sessionStorage.setItem(KEY, token)
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY)
}
