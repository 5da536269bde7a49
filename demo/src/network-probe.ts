/** Gathering takes a fraction of a second where there is a network. */
const PROBE_MS = 4_000;

/**
 * Says why this browser cannot reach others by WebRTC, or null when it most likely can. Browsers
 * gather addresses on the interface of the default route only: without one nothing ever connects,
 * and nothing ever says so.
 */
export async function networkProblem(): Promise<string | null> {
  if (typeof RTCPeerConnection === 'undefined') return 'This browser has no WebRTC.';
  const connection = new RTCPeerConnection();
  try {
    connection.createDataChannel('probe');
    const found = new Promise<boolean>((resolve) => {
      connection.addEventListener('icecandidate', ({ candidate }) => {
        // Null ends the gathering.
        if (candidate === null || candidate.candidate) resolve(candidate !== null);
      });
      setTimeout(() => resolve(false), PROBE_MS);
    });
    await connection.setLocalDescription();
    if (await found) return null;
    return 'This browser finds no network address for WebRTC: the machine has no default route, or a policy forbids it. Other tabs cannot be reached.';
  } catch (error) {
    return `WebRTC does not work here: ${String(error)}`;
  } finally {
    connection.close();
  }
}
