"""F of a triangulated ball on 2000 x 1000 uniform q by finufft: python race_finufft.py MESH.obj [EPS]
Needs finufft and numpy. Sums of centroids, as `gisaxs form-factor --grid 0 -2:2:2000 0:2.5:1000 --im-qz 0.01
--quadrature one --accuracy 1e-7 --threads 1 --method nufft`."""
import sys, time
import numpy as np, finufft

vertices, faces = [], []
for line in open(sys.argv[1]):
    words = line.split()
    if words[:1] == ["v"]:
        vertices.append([float(x) for x in words[1:4]])
    elif words[:1] == ["f"]:
        faces.append([int(x) - 1 for x in words[1:4]])
eps = float(sys.argv[2]) if len(sys.argv) > 2 else 1e-7
v = np.array(vertices)[np.array(faces)]
centre = v.reshape(-1, 3).mean(0)
r = v.mean(1) - centre
n = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0]) / 2
ny, nz, damping = 2000, 1000, 0.01
qy, qz = np.linspace(-2, 2, ny), np.linspace(0, 2.5, nz)
dy, dz = qy[1] - qy[0], qz[1] - qz[0]
whole = alone = 1e9
for _ in range(5):
    start = time.perf_counter()
    w = np.exp(1j * (qy[ny // 2] * r[:, 1] + qz[nz // 2] * r[:, 2]) - damping * r[:, 2])
    c = (n[:, 1:] * w[:, None]).T.astype(np.complex128).copy()
    begin = time.perf_counter()
    g = finufft.nufft2d1(r[:, 1] * dy, r[:, 2] * dz, c, (ny, nz), eps=eps, isign=1, nthreads=1)
    alone = min(alone, time.perf_counter() - begin)
    z = (qz + 1j * damping)[None, :]
    f = -1j * (qy[:, None] * g[0] + np.conj(z) * g[1]) / (qy[:, None] ** 2 + np.abs(z) ** 2) * np.exp(1j * z * centre[2])
    whole = min(whole, time.perf_counter() - start)
print(f"{len(faces)} triangles, eps {eps}: F {whole:.3f} s, of which the two transforms {alone:.3f} s")
