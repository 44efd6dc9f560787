const KEY = 'hawser.theme'

/** That of the system, unless a person chose another. */
export function applyTheme(): void {
  const chosen = localStorage.getItem(KEY)
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset['theme'] = chosen
}

export function toggleTheme(): void {
  const isDark =
    (document.documentElement.dataset['theme'] ??
      (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'
  localStorage.setItem(KEY, isDark ? 'light' : 'dark')
  applyTheme()
}
